import { Link } from '../../app/router/link'
import { useText } from '../../i18n/language'
import { useCurrentPriceBook } from '../../queries/price_books'
import type { UnitType } from '../../queries/unit_types'
import { formatMoney } from '../../ui/format'
import { Facts } from '../../ui/page'
import { Ready } from '../../ui/states'
import { entryOf } from '../prices/entry_of'

export function UnitPrice({ unit }: { unit: UnitType }) {
  const t = useText()
  const query = useCurrentPriceBook()
  const book = query.data
  const entry = book ? entryOf(book.document, unit.center, unit.name) : null
  const money = (amount: string | undefined) => (amount !== undefined && book ? formatMoney({ amount, currency: book.currency }) : null)
  return (
    <Ready query={query}>
      {!book || !entry ? <p className="dim">{t(book ? 'units.price.free' : 'units.price.none')}</p> : (
        <Facts items={[
          [t('units.price.score'), money(entry.per_score_hour)], [t('units.price.unit'), money(entry.per_unit_hour)],
          [t('units.price.idle'), money(entry.per_idle_reserved_unit_hour)],
          [t('units.price.power'), entry.unit_power_w ? `${entry.unit_power_w} W` : null],
          [t('units.price.carbon'), entry.carbon_g_per_kwh ? `${entry.carbon_g_per_kwh} g/kWh` : null],
          [t('units.price.entry'), <code key="e">{entry.center} / {entry.unit_type}</code>],
          [t('units.price.book'), <Link key="b" href={`/prices/${book.version}`}>{t('units.price.version', { n: book.version })}</Link>],
        ]} />
      )}
    </Ready>
  )
}
