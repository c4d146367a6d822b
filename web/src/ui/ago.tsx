import { useSyncExternalStore } from 'react'
import { useText } from '../i18n/language'
import { formatDuration, formatTime, nothing } from './format'
import { useZone } from './zone'

// One clock for all: figures that say how long ago something was go on together.
let now = Date.now()
const listeners = new Set<() => void>()
let timer: number | undefined

function subscribe(listener: () => void) {
  listeners.add(listener)
  timer ??= window.setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

/** How long ago a moment was; the moment itself is its title. */
export function Ago({ at }: { at: string | null | undefined }) {
  const t = useText()
  const { zone } = useZone()
  const current = useNow()
  if (!at) return <>{nothing}</>
  const seconds = Math.max(0, Math.floor((current - Date.parse(at)) / 1000))
  const text = formatDuration(seconds).replace(/\.\d+/, '')
  return <time dateTime={at} title={formatTime(at, zone)} style={{ whiteSpace: 'nowrap' }}>{t('ui.ago', { d: text })}</time>
}
