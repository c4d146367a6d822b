import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { listen, type StreamState, throttle } from '../api/events'
import { jobKeys } from '../queries/jobs'
import { keysThatJobsChange } from './live_keys'

interface Live {
  state: StreamState
  /** Since when it is in this state. */
  since: number
}

const Context = createContext<Live>({ state: 'connecting', since: 0 })
const pollMs = 15_000

/** One stream of events for the whole console. What they change is asked for again, once in a while at most. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const [live, setLive] = useState<Live>({ state: 'connecting', since: Date.now() })

  useEffect(() => {
    const changed = new Set<string>()
    const refresh = throttle(() => {
      for (const id of changed) void client.invalidateQueries({ queryKey: jobKeys.one(id) })
      changed.clear()
      for (const queryKey of keysThatJobsChange) void client.invalidateQueries({ queryKey })
    }, 1500)
    let wasBroken = false
    const stop = listen((event) => {
      changed.add(event.job_id)
      refresh.call()
    }, (state) => {
      setLive((before) => (before.state === state ? before : { state, since: Date.now() }))
      if (state === 'live' && wasBroken) void client.invalidateQueries()
      wasBroken = state === 'broken'
    })
    return () => {
      stop()
      refresh.cancel()
    }
  }, [client])

  useEffect(() => {
    if (live.state !== 'broken') return
    const timer = setInterval(() => void client.invalidateQueries(), pollMs)
    return () => clearInterval(timer)
  }, [client, live.state])

  return <Context value={live}>{children}</Context>
}

export function useLive(): Live {
  return useContext(Context)
}
