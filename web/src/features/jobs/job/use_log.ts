import { useEffect, useState } from 'react'
import { errorOf } from '../../../api/problem'
import { append, emptyLog, type LogText } from './log_text'

export type StreamName = 'stdout' | 'stderr'

interface LogState {
  log: LogText
  isLive: boolean
  error: unknown
}

/** Which attempt's output: its number, and whether none has come after it. */
export interface LogAttempt {
  number: number
  isNewest: boolean
}

/** What an attempt of a job wrote, followed until it has ended. */
export function useLog(id: string, stream: StreamName, { number, isNewest }: LogAttempt): LogState & { again: () => void } {
  const [tries, setTries] = useState(0)
  const [state, setState] = useState<LogState>({ log: emptyLog, isLive: true, error: null })
  useEffect(() => {
    const abort = new AbortController()
    let log = emptyLog
    setState({ log, isLive: true, error: null })
    async function read() {
      const url = `/api/v1/jobs/${encodeURIComponent(id)}/logs/${stream}?follow=true${isNewest ? '' : `&attempt=${number}`}`
      const response = await fetch(url, { signal: abort.signal, credentials: 'same-origin' })
      if (!response.ok || !response.body) throw errorOf(response, await response.json().catch(() => null))
      const reader = response.body.getReader()
      const decoder = new TextDecoder()
      for (;;) {
        const { done, value } = await reader.read()
        log = append(log, value ? decoder.decode(value, { stream: true }) : decoder.decode(), value?.length ?? 0)
        if (abort.signal.aborted) return
        setState({ log, isLive: !done, error: null })
        if (done) return
      }
    }
    read().catch((error: unknown) => {
      if (!abort.signal.aborted) setState({ log, isLive: false, error })
    })
    return () => abort.abort()
    // Another attempt writes anew.
  }, [id, stream, number, isNewest, tries])
  return { ...state, again: () => setTries((n) => n + 1) }
}
