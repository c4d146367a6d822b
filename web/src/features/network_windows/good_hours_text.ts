import type { Translate } from '../../i18n/language'
import type { NetworkWindow } from '../../queries/network_windows'
import { clockText, offsetName } from './week'

/** 22:00–02:00 UTC, or that all hours are alike; by a clock that is so far ahead of UTC. */
export function goodHoursText(good: NetworkWindow['good_hours'], t: Translate, offsetMin = 0): string {
  if (!good) return t('windows.good.all')
  const from = good.first_hour * 60 + offsetMin
  return t('windows.good.value', { from: clockText(from), to: clockText(from + good.hour_count * 60), zone: offsetName(offsetMin) })
}
