import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { ChartOption } from './chart_core'

/** Fetches ECharts ahead of the first chart: for a page that has one, but asks the server for something before. */
export function loadCharts(): void {
  void import('./chart_core')
}

/** A chart. ECharts is fetched when the first one is shown; the label says what it shows, for those who cannot see it. */
export function Chart({ option, label, height = 260 }: { option: ChartOption; label: string; height?: number }) {
  const frame = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme('light')
  useEffect(() => {
    let isGone = false
    let remove: (() => void) | undefined
    void import('./chart_core').then(({ draw }) => {
      if (!isGone && frame.current) remove = draw(frame.current, option, scheme)
    })
    return () => {
      isGone = true
      remove?.()
    }
  }, [option, scheme])
  return <div ref={frame} role="img" aria-label={label} style={{ height, width: '100%' }} />
}
