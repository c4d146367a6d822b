import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { listen, type StreamState } from '../api/events'
import { useAutoRefresh } from './auto_refresh'
import { followJobs } from './live_refresh'

interface Live {
  /** stopped: nothing is asked for again until somebody asks. */
  state: StreamState | 'stopped'
  /** Since when it is in this state. */
  since: number
}

const Context = createContext<Live>({ state: 'connecting', since: 0 })
const pollMs = 15_000

/**
 * One stream of events for the whole console, while it is looked at. What they change is asked for again, once in a while at most.
 * There is none while what is shown is to stay as it is.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const [live, setLive] = useState<Live>({ state: 'connecting', since: Date.now() })

  const isOn = useAutoRefresh()
  const wasStopped = useRef(false)

  useEffect(() => {
    if (!isOn) {
      wasStopped.current = true
      return
    }
    const jobs = followJobs(client)
    // Whether something may have happened of which no event told: the stream was away, or the page was hidden.
    let hasMissed = document.hidden || wasStopped.current
    wasStopped.current = false
    let hasListened = false
    const stop = listen((event) => jobs.changed(event.job_id), (state) => {
      setLive((before) => (before.state === state ? before : { state, since: Date.now() }))
      if (state !== 'live') {
        hasMissed ||= hasListened
      } else if (hasMissed) {
        hasMissed = false
        void client.invalidateQueries()
      }
      hasListened = true
    })
    return () => {
      stop()
      jobs.stop()
    }
  }, [client, isOn])

  useEffect(() => {
    if (!isOn || live.state !== 'broken') return
    const timer = setInterval(() => void client.invalidateQueries(), pollMs)
    return () => clearInterval(timer)
  }, [client, isOn, live.state])

  const shown = useMemo<Live>(() => (isOn ? live : { ...live, state: 'stopped' }), [isOn, live])
  return <Context value={shown}>{children}</Context>
}

export function useLive(): Live {
  return useContext(Context)
}
