import type { Center } from '../../../queries/centers'
import type { NetworkWindow } from '../../../queries/network_windows'
import { type Health, healthOf } from '../health'

/** What was measured of a center's way to the data site. */
export interface MapLink {
  /** Bytes a second at this hour. */
  rateBytes: number
  /** How many transfers were timed. */
  sampleCount: number
  goodHours: NetworkWindow['good_hours']
}

/** A center as it is drawn. */
export interface MapCenter {
  id: string
  name: string
  health: Health
  /** Its agent is connected. */
  isConnected: boolean
  used: number
  all: number
  /** null: its network was never timed; undefined: what was timed of it has not been read. */
  link: MapLink | null | undefined
}

/** For each center the unit type whose network was timed most often, as predictions take it. */
function linksByCenter(windows: readonly NetworkWindow[]): ReadonlyMap<string, MapLink> {
  const links = new Map<string, MapLink>()
  for (const window of windows) {
    const known = links.get(window.center_id)
    if (!(window.now.rate_bytes > 0) || (known && known.sampleCount >= window.sample_count)) continue
    links.set(window.center_id, { rateBytes: window.now.rate_bytes, sampleCount: window.sample_count, goodHours: window.good_hours })
  }
  return links
}

/** `isWhole`: all that was timed is among the windows, so that a center without one was not. */
export function mapCenters(centers: readonly Center[], windows: readonly NetworkWindow[], isWhole: boolean): MapCenter[] {
  const links = linksByCenter(windows)
  return centers.map((center) => ({
    id: center.id, name: center.name, health: healthOf(center), isConnected: center.state === 'online' && !center.revoked_at,
    used: center.units_in_use, all: center.unit_count, link: links.get(center.id) ?? (isWhole ? null : undefined),
  }))
}
