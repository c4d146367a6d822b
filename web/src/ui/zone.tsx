import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import { readStored, store } from '../app/storage'
import { formatTime, type Zone } from './format'

const Context = createContext<{ zone: Zone; setZone: (zone: Zone) => void }>({ zone: 'utc', setZone: () => undefined })

export function ZoneProvider(props: { children: ReactNode }) {
  const [zone, setZone] = useState<Zone>(readStored('zone') === 'local' ? 'local' : 'utc')
  const value = useMemo(() => ({
    zone,
    setZone: (next: Zone) => {
      store('zone', next)
      setZone(next)
    },
  }), [zone])
  return <Context value={value}>{props.children}</Context>
}

/** What is within it is shown in this zone, whichever the reader has chosen for all pages. */
export function InZone({ zone, children }: { zone: Zone; children: ReactNode }) {
  const { setZone } = useZone()
  const value = useMemo(() => ({ zone, setZone }), [zone, setZone])
  return <Context value={value}>{children}</Context>
}

export function useZone() {
  return useContext(Context)
}

/** A moment, in the chosen zone and with its name. */
export function Time({ at }: { at: string | null | undefined }) {
  const { zone } = useZone()
  if (!at) return <>{formatTime(at, zone)}</>
  return <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>{formatTime(at, zone)}</time>
}
