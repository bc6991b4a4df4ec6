import { useEffect, useState } from 'preact/hooks'
import { bytes, visible } from '../data/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'

type Members = Readonly<Record<string, unknown>>

/** Characters of one text that are shown at first; more would make the page slow. */
const mostText = 20_000

/** A text of a server, as text. */
export function PlainText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? text : text.slice(0, mostText)
  return (
    <>
      <pre class="code wrap" tabIndex={0}>
        {visible(shown)}
      </pre>
      {shown.length < text.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length} characters
        </button>
      )}
    </>
  )
}

/** One content block of a result or message, shown as what it is. */
export function ContentBlock({ block }: { block: unknown }) {
  const { type, text, data, mimeType, resource, uri, name } = membersOf(block)
  if (type === 'text' && typeof text === 'string') return <PlainText text={text} />
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return <Media data={data} type={String(mimeType ?? '')} />
  }
  if (type === 'resource') return <ResourceContent contents={resource} />
  if (type === 'resource_link' && typeof uri === 'string') {
    return (
      <figure class="block">
        <figcaption>link to {visible(String(name ?? 'a resource'))}</figcaption>
        <OutLink url={uri} />
      </figure>
    )
  }
  return <JsonTree value={block} />
}

/** The contents of a resource: a text, or bytes as base64. */
export function ResourceContent({ contents }: { contents: unknown }) {
  const { uri, mimeType, text, blob } = membersOf(contents)
  const type = String(mimeType ?? '')
  return (
    <figure class="block">
      <figcaption>
        <code>{visible(String(uri ?? ''))}</code> {visible(type)}
      </figcaption>
      {typeof text === 'string' && <PlainText text={text} />}
      {typeof blob === 'string' && <Media data={blob} type={type} />}
    </figure>
  )
}

/** The types of images that browsers show. SVG is one of them: inside `<img>` its scripts do not run. */
const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'])

/** An image or a sound; anything else can be saved. */
function Media({ data, type }: { data: string; type: string }) {
  const size = Math.floor((data.length * 3) / 4)
  const caption = `${type === '' ? 'bytes' : visible(type)}, ${bytes(size)}`
  return (
    <figure class="block">
      {images.has(type) && <Image data={data} type={type} />}
      {type.startsWith('audio/') && <Sound data={data} type={type} />}
      <figcaption>
        {caption} <Save data={data} />
      </figcaption>
    </figure>
  )
}

function Image({ data, type }: { data: string; type: string }) {
  const [isBroken, setBroken] = useState(false)
  if (isBroken) return <p class="text-error">The browser cannot show this image.</p>
  return (
    <img
      src={`data:${type};base64,${data}`}
      alt={`The server sent ${type}`}
      onError={() => setBroken(true)}
    />
  )
}

function Sound({ data, type }: { data: string; type: string }) {
  const [url, setUrl] = useState('')
  useEffect(() => {
    const found = blobOf(data, type)
    if (found === undefined) return
    const made = URL.createObjectURL(found)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data, type])
  if (url === '') return null
  // biome-ignore lint/a11y/useMediaCaption: a server sends no captions.
  return <audio controls src={url} aria-label="The sound that the server sent" />
}

function Save({ data }: { data: string }) {
  const save = (): void => {
    // With a neutral type, the browser saves the file and does not open it.
    const found = blobOf(data, 'application/octet-stream')
    if (found === undefined) return
    const url = URL.createObjectURL(found)
    const anchor = document.createElement('a')
    anchor.href = url
    anchor.download = 'content.bin'
    anchor.click()
    setTimeout(() => URL.revokeObjectURL(url), 1000)
  }
  return (
    <button type="button" onClick={save}>
      Save
    </button>
  )
}

function blobOf(data: string, type: string): Blob | undefined {
  try {
    return new Blob([Uint8Array.from(atob(data), each => each.charCodeAt(0))], { type })
  } catch {
    return undefined
  }
}

/** A link of a server: shown in full, and opened by a second press only. */
export function OutLink({ url, onOpen }: { url: string; onOpen?: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const isWeb = /^https?:\/\//i.test(url)
  return (
    <p class="out-link">
      <code>{visible(url)}</code>{' '}
      {isWeb && !isAsking && (
        <button type="button" onClick={() => setAsking(true)}>
          Open
        </button>
      )}
      {isWeb && isAsking && (
        <a
          class="button"
          href={url}
          target="_blank"
          rel="noreferrer noopener"
          onClick={() => onOpen?.()}
        >
          Open this address in a new tab
        </a>
      )}
    </p>
  )
}

/** Returns the members of a value; of anything but an object there are none. */
export function membersOf(value: unknown): Members {
  // The check: every member is checked where it is read.
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}
