import { useText } from '../../i18n/language'
import type { PriceDocument, PriceEntry } from '../../queries/price_books'
import { type Column, DataTable } from '../../ui/data_table'
import { formatMoney, nothing } from '../../ui/format'
import { Facts, Section } from '../../ui/page'
import { bandText } from './band_text'

type Discount = NonNullable<PriceDocument['discounts']>[number]
type Budget = NonNullable<PriceDocument['budgets']>[number]

/** A price document as tables. */
export function DocumentView({ document }: { document: PriceDocument }) {
  const t = useText()
  const money = (amount: string | undefined) => (amount === undefined ? nothing : formatMoney({ amount, currency: document.currency }))
  const entries: Column<PriceEntry>[] = [
    { id: 'center', title: t('prices.center'), cell: (e) => e.center, csv: (e) => e.center },
    { id: 'unit_type', title: t('prices.unit'), cell: (e) => e.unit_type, csv: (e) => e.unit_type },
    { id: 'per_score_hour', title: t('prices.score'), isNumber: true, cell: (e) => money(e.per_score_hour), csv: (e) => e.per_score_hour },
    { id: 'per_unit_hour', title: t('prices.unit.hour'), isNumber: true, cell: (e) => money(e.per_unit_hour), csv: (e) => e.per_unit_hour },
    { id: 'per_idle_reserved_unit_hour', title: t('prices.idle'), isNumber: true, cell: (e) => money(e.per_idle_reserved_unit_hour), csv: (e) => e.per_idle_reserved_unit_hour },
    { id: 'bands', title: t('prices.bands'), cell: (e) => (e.bands?.length ? e.bands.map((band, i) => <div key={i}>{bandText(t, band)}</div>) : nothing), csv: (e) => e.bands && JSON.stringify(e.bands) },
    { id: 'unit_power_w', title: t('prices.power'), isNumber: true, cell: (e) => (e.unit_power_w ? `${e.unit_power_w} W` : nothing), csv: (e) => e.unit_power_w },
    { id: 'carbon_g_per_kwh', title: t('prices.carbon'), isNumber: true, cell: (e) => (e.carbon_g_per_kwh ? `${e.carbon_g_per_kwh} g/kWh` : nothing), csv: (e) => e.carbon_g_per_kwh },
  ]
  const discounts: Column<Discount>[] = [
    { id: 'project', title: t('prices.project'), cell: (d) => d.project, csv: (d) => d.project }, { id: 'percent', title: t('prices.percent'), isNumber: true, cell: (d) => `${d.percent} %`, csv: (d) => d.percent }]
  const budgets: Column<Budget>[] = [
    { id: 'project', title: t('prices.project'), cell: (b) => b.project, csv: (b) => b.project }, { id: 'cap', title: t('prices.cap'), isNumber: true, cell: (b) => money(b.per_month), csv: (b) => b.per_month },
    { id: 'action', title: t('prices.action'), cell: (b) => t(`prices.action.${b.action}`), csv: (b) => b.action },
    { id: 'alerts', title: t('prices.alerts'), cell: (b) => (b.alerts_percent ?? [80, 100]).map((percent) => `${percent} %`).join(', '),
      csv: (b) => (b.alerts_percent ?? [80, 100]).join(' ') }]
  return (
    <>
      <Section title={t('prices.entries')}>
        <DataTable name="price-entries" label={t('prices.entries')} columns={entries} rows={document.entries} rowKey={(e) => `${e.center}/${e.unit_type}`} />
      </Section>
      <Section title={t('prices.other')}>
        <Facts items={[[t('prices.moved'), money(document.per_gb_moved)], [t('prices.stored'), money(document.per_gb_hour_stored)], [t('prices.minimum'), money(document.minimum_charge)]]} />
      </Section>
      <Section title={t('prices.discounts')}>
        {document.discounts?.length ? <DataTable isPlain name="discounts" label={t('prices.discounts')} columns={discounts} rows={document.discounts} rowKey={(d) => d.project} />
          : <p className="dim">{t('prices.discounts.none')}</p>}
      </Section>
      <Section title={t('prices.budgets')}>
        {document.budgets?.length ? <DataTable isPlain name="budgets" label={t('prices.budgets')} columns={budgets} rows={document.budgets} rowKey={(b) => b.project} />
          : <p className="dim">{t('prices.budgets.none')}</p>}
      </Section>
    </>
  )
}
