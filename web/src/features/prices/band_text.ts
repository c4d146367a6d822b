import type { Translate } from '../../i18n/language'
import type { PriceBand } from '../../queries/price_books'

/** The hours of a band and its prices, in the reader's language: Mon Tue 8–20 h: 0.50 a unit-hour. */
export function bandText(t: Translate, band: PriceBand): string {
  const hours = t('prices.bands.hours', { from: band.from_hour ?? 0, to: band.to_hour ?? 24 })
  const when = band.days?.length ? t('prices.bands.days', { days: band.days.map((day) => t(`prices.day.${day}`)).join(' '), hours }) : hours
  const prices = [
    ...(band.per_score_hour === undefined ? [] : [t('prices.bands.score', { amount: band.per_score_hour })]),
    ...(band.per_unit_hour === undefined ? [] : [t('prices.bands.unit', { amount: band.per_unit_hour })]),
  ]
  return t('prices.bands.text', { when, prices: prices.join(', ') })
}
