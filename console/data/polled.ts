import { useEffect, useState } from 'preact/hooks'
import { ask } from './api.ts'

/** An answer of the console that is read again every second. */
export interface Polled<Answer> {
  /** The last answer; undefined before the first. */
  readonly answer: Answer | undefined
  /** Why the last request failed; empty if it did not. */
  readonly problem: string
  /** Reads it now. */
  load(): void
}

/** Reads an answer of the console every second, while the page is shown. */
export function usePolled<Answer>(path: string): Polled<Answer> {
  const [answer, setAnswer] = useState<Answer | undefined>(undefined)
  const [problem, setProblem] = useState('')
  const load = (): void => {
    ask<Answer>(path).then(
      found => {
        setAnswer(found)
        setProblem('')
      },
      (error: Error) => setProblem(error.message),
    )
  }
  useEffect(() => {
    load()
    const timer = setInterval(load, 1000)
    return () => clearInterval(timer)
  }, [])
  return { answer, problem, load }
}
