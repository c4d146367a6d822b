import type { Translate } from '../../i18n/language'
import type { NetworkWindow } from '../../queries/network_windows'

const pad = (hour: number) => `${String(hour % 24).padStart(2, '0')}:00`

/** 22:00–02:00 UTC, or that all hours are alike. */
export function goodHoursText(good: NetworkWindow['good_hours'], t: Translate): string {
  return good ? t('windows.good.value', { from: pad(good.first_hour), to: pad(good.first_hour + good.hour_count) }) : t('windows.good.all')
}
