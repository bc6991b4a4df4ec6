import { useState } from 'preact/hooks'
import type { PlayPrompt } from '../../src/console/wire-play.ts'
import { Completed } from './completed.tsx'
import type { Call } from './playground.tsx'
import { Title } from './tool-panel.tsx'

/** The arguments of a prompt, which servers complete while they are typed. */
export function PromptPanel({ prompt, call }: { prompt: PlayPrompt; call: Call }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        call({ method: 'prompts/get', params: { name: prompt.name, arguments: given } })
      }}
    >
      <Title name={prompt.name} title={prompt.title} description={prompt.description} />
      <div class="form">
        {(prompt.arguments ?? []).map(({ name, description, required }) => (
          <Completed
            key={name}
            of={{ prompt: prompt.name }}
            name={name}
            description={description}
            isRequired={required === true}
            value={values[name] ?? ''}
            context={given}
            onChange={value => setValues({ ...values, [name]: value })}
          />
        ))}
      </div>
      <div class="buttons">
        <button type="submit" class="primary">
          Get
        </button>
      </div>
    </form>
  )
}
