import { useState } from 'preact/hooks'
import type { PlayLists } from '../../src/console/wire-play.ts'
import { Completed } from './completed.tsx'
import type { Call } from './playground.tsx'
import { Title } from './tool-panel.tsx'

/** A resource to read, or a template whose variables are filled in first. */
export function ResourcePanel({ uri, lists, call }: { uri: string; lists: PlayLists; call: Call }) {
  const template = lists.templates.find(({ uriTemplate }) => uriTemplate === uri)
  const entry = template ?? lists.resources.find(each => each.uri === uri)
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [edited, setEdited] = useState(uri)
  const variables = template?.variables ?? []
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        const isFilled = variables.length > 0
        const request = { method: 'resources/read', params: { uri: isFilled ? uri : edited } }
        call(isFilled ? { ...request, variables: values } : request)
      }}
    >
      <Title name={entry?.name ?? uri} title={entry?.title} description={entry?.description} />
      <div class="form">
        {variables.map(name => (
          <Completed
            key={name}
            of={{ template: uri }}
            name={name}
            description={undefined}
            isRequired={false}
            value={values[name] ?? ''}
            context={values}
            onChange={value => setValues({ ...values, [name]: value })}
          />
        ))}
        {variables.length === 0 && (
          <div class="field">
            <label for="uri">URI</label>
            <input
              id="uri"
              type="text"
              value={edited}
              onInput={event => setEdited(event.currentTarget.value)}
            />
          </div>
        )}
      </div>
      <div class="buttons">
        <button type="submit" class="primary">
          Read
        </button>
      </div>
    </form>
  )
}
