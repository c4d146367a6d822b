import type { components } from './schema'

export type JobEvent = components['schemas']['JobEvent']
export type StreamState = 'connecting' | 'live' | 'broken'

const retryMs = [1000, 2000, 5000, 10000, 30000]

/**
 * Listens to the server's events until the returned function is called. A broken stream is tried again for ever. While the page is
 * hidden there is none: what happened meanwhile is not told, so whoever listens asks for it once the stream is live again.
 */
export function listen(onEvent: (event: JobEvent) => void, onState: (state: StreamState) => void, path = '/api/v1/events') {
  return listenTo({ path: () => path, name: 'job', parse: parseEvent, onEvent, onState })
}

/**
 * The same of any stream: the events of one name, as `parse` reads them; null: none of ours. `path` is asked each time that the
 * stream has to be opened anew, also after the page was hidden.
 */
export function listenTo<Event>({ path, name, parse, onEvent, onState }: {
  path: () => string
  name: string
  parse: (data: string) => Event | null
  onEvent: (event: Event) => void
  onState: (state: StreamState) => void
}): () => void {
  let source: EventSource | null = null
  let timer: number | undefined
  let failures = 0

  function open() {
    source = new EventSource(path())
    source.onopen = () => {
      failures = 0
      onState('live')
    }
    source.addEventListener(name, (message: MessageEvent<string>) => {
      const event = parse(message.data)
      if (event) onEvent(event)
    })
    source.onerror = () => {
      onState('broken')
      // The browser itself connects again after a lost connection, but gives up after an answer that is an error.
      if (source?.readyState !== EventSource.CLOSED) return
      timer = window.setTimeout(open, retryMs[Math.min(failures++, retryMs.length - 1)])
    }
  }

  function close() {
    window.clearTimeout(timer)
    source?.close()
    source = null
  }

  // Over HTTP/1.1 a browser opens six connections to a host for all of its tabs together: tabs that nobody looks at must not hold them.
  function follow() {
    close()
    onState('connecting')
    if (!document.hidden) open()
  }

  document.addEventListener('visibilitychange', follow)
  follow()
  return () => {
    document.removeEventListener('visibilitychange', follow)
    close()
  }
}

/** The event of a message; null when it is none that this console knows. */
export function parseEvent(data: string): JobEvent | null {
  try {
    const value = JSON.parse(data) as Partial<JobEvent> | null
    return typeof value?.job_id === 'string' && typeof value.state === 'string' ? (value as JobEvent) : null
  } catch {
    return null
  }
}

/** Calls `run` at once, then at most once in `ms`, and a last time for what came meanwhile. */
export function throttle(run: () => void, ms: number): { call: () => void; cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let waiting = false
  function call() {
    if (timer !== undefined) {
      waiting = true
      return
    }
    run()
    timer = setTimeout(() => {
      timer = undefined
      if (waiting) {
        waiting = false
        call()
      }
    }, ms)
  }
  return { call, cancel: () => clearTimeout(timer) }
}
