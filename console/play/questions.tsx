import { useEffect, useState } from 'preact/hooks'
import { visible } from '../data/format.ts'
import { type PlayQuestion, pageToken, questions } from '../data/play.ts'
import { Form } from '../form/form.tsx'
import { initialValue, type Schema } from '../form/schema.ts'
import { act } from '../parts/basics.tsx'
import { ContentBlock, membersOf, OutLink } from './content.tsx'

/** The server requests that wait for the person. */
export function QuestionList() {
  return (
    <div aria-live="polite">
      {questions.value.map(question => (
        <Question key={question.id} question={question} />
      ))}
    </div>
  )
}

function Question({ question }: { question: PlayQuestion }) {
  const { kind, server, params, until } = question
  const { message } = membersOf(params)
  const titles = { form: 'asks', url: 'asks you to visit a page', sample: 'asks for a model' }
  return (
    <section class="question" aria-label="Server request">
      <div class="head">
        <h2>
          {visible(server ?? 'A server')} {titles[kind]}
        </h2>
        <span class="spacer" />
        <TimeLeft until={until} />
      </div>
      {typeof message === 'string' && <p class="message">{visible(message)}</p>}
      {kind === 'form' && <FormAnswer question={question} />}
      {kind === 'url' && <UrlAnswer question={question} />}
      {kind === 'sample' && <SampleAnswer question={question} />}
    </section>
  )
}

function TimeLeft({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((until - now) / 1000))
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return <span class="muted">{text} left</span>
}

function reply(id: string, action: string, content?: unknown): void {
  act(`play/${pageToken}/answers/${id}`, `Answered: ${action}`, { action, content })
}

function Refusals({ id }: { id: string }) {
  return (
    <>
      <button type="button" onClick={() => reply(id, 'decline')}>
        Decline
      </button>
      <button type="button" onClick={() => reply(id, 'cancel')}>
        Cancel
      </button>
    </>
  )
}

function FormAnswer({ question: { id, params } }: { question: PlayQuestion }) {
  const { requestedSchema } = membersOf(params)
  const schema: Schema = membersOf(requestedSchema)
  const [value, setValue] = useState<unknown>(() => initialValue(schema, schema))
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        reply(id, 'accept', value)
      }}
    >
      <Form schema={schema} value={value} prefix={`answer-${id}`} onChange={setValue} />
      <div class="buttons">
        <button type="submit" class="primary">
          Accept
        </button>
        <Refusals id={id} />
      </div>
    </form>
  )
}

function UrlAnswer({ question: { id, params } }: { question: PlayQuestion }) {
  const { url } = membersOf(params)
  return (
    <>
      <OutLink url={String(url ?? '')} />
      <div class="buttons">
        <button type="button" class="primary" onClick={() => reply(id, 'accept')}>
          Accept
        </button>
        <Refusals id={id} />
      </div>
    </>
  )
}

function SampleAnswer({ question: { id, params } }: { question: PlayQuestion }) {
  const [text, setText] = useState('')
  const { messages, systemPrompt, maxTokens } = membersOf(params)
  const all: readonly unknown[] = Array.isArray(messages) ? messages : []
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        reply(id, 'accept', text)
      }}
    >
      {typeof systemPrompt === 'string' && (
        <p class="muted">System prompt: {visible(systemPrompt)}</p>
      )}
      {all.map((message, at) => {
        const { role, content } = membersOf(message)
        return (
          <figure key={at} class="block">
            <figcaption>{visible(String(role ?? ''))}</figcaption>
            {(Array.isArray(content) ? content : [content]).map((block, index) => (
              <ContentBlock key={index} block={block} />
            ))}
          </figure>
        )
      })}
      <label for={`answer-${id}`}>Answer as the model, at most {String(maxTokens)} tokens</label>
      <textarea
        id={`answer-${id}`}
        rows={3}
        value={text}
        onInput={event => setText(event.currentTarget.value)}
      />
      <div class="buttons">
        <button type="submit" class="primary">
          Answer
        </button>
        <button type="button" onClick={() => reply(id, 'decline')}>
          Decline
        </button>
      </div>
    </form>
  )
}
