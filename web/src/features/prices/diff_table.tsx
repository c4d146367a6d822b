import { useText } from '../../i18n/language'
import type { PriceBook, PriceDocument } from '../../queries/price_books'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { StatePill, type Tone } from '../../ui/state_pill'
import { comparePrices, type Difference } from './diff'
import styles from './prices.module.css'

type Kind = 'added' | 'removed' | 'changed'
const tones: Record<Kind, Tone> = { added: 'good', removed: 'bad', changed: 'warn' }

function kindOf(difference: Difference): Kind {
  return difference.before === null ? 'added' : difference.after === null ? 'removed' : 'changed'
}

/** In what prices differ from those in force. */
export function DiffTable({ current, document }: { current: PriceBook | null; document: PriceDocument }) {
  const t = useText()
  const rows = comparePrices(current?.document ?? null, document)
  const columns: Column<Difference>[] = [
    { id: 'what', title: t('prices.diff.what'), cell: (d) => d.path, csv: (d) => d.path },
    { id: 'kind', title: t('prices.diff.kind'), cell: (d) => <StatePill tone={tones[kindOf(d)]}>{t(`prices.diff.${kindOf(d)}`)}</StatePill>, csv: kindOf },
    { id: 'in_force', title: t('prices.diff.before'), cell: (d) => <code className={styles.value}>{d.before ?? nothing}</code>, csv: (d) => d.before },
    { id: 'here', title: t('prices.diff.after'), cell: (d) => <code className={styles.value}>{d.after ?? nothing}</code>, csv: (d) => d.after },
  ]
  return (
    <>
      <p className="dim">{current ? t('prices.diff.of', { n: current.version }) : t('prices.diff.nothing')}</p>
      {rows.length === 0 ? <p>{t('prices.diff.none')}</p>
        : <DataTable isPlain name="price-differences" label={t('prices.diff')} columns={columns} rows={rows} rowKey={(d) => d.path} />}
    </>
  )
}
