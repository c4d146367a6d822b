import { Button, NativeSelect } from '@mantine/core'
import { Link } from '../../app/router/link'
import { navigate } from '../../app/router/location'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type PriceBookVersion, usePriceBooks } from '../../queries/price_books'
import { CutMark } from '../../ui/cut_list'
import { type Column, DataTable } from '../../ui/data_table'
import { knownWord } from '../../ui/known_word'
import { Page } from '../../ui/page'
import { EmptyState, NoneFits, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { BookState, bookStates, stateOf } from './book_state'

/** All versions of the price book, the newest first. */
export function PricesPage() {
  const t = useText()
  const { may } = useSession()
  const [raw, change] = useFilters(['state'])
  const state = knownWord(bookStates, raw.state)
  const query = usePriceBooks()
  const now = query.dataUpdatedAt
  const all = query.data ?? []
  const columns: Column<PriceBookVersion>[] = [
    { id: 'version', title: t('prices.version'), isNumber: true, cell: (b) => <Link href={`/prices/${b.version}`}>{b.version}</Link>, csv: (b) => b.version },
    { id: 'state', title: t('prices.state'), cell: (b) => <BookState book={b} now={now} />, csv: (b) => stateOf(b, now) },
    { id: 'currency', title: t('prices.currency'), cell: (b) => b.currency, csv: (b) => b.currency },
    { id: 'entry_count', title: t('prices.entries'), isNumber: true, cell: (b) => b.entry_count, csv: (b) => b.entry_count },
    { id: 'valid_from', title: t('prices.from'), cell: (b) => <Time at={b.valid_from} />, csv: (b) => b.valid_from },
    { id: 'created_at', title: t('prices.created'), cell: (b) => <Time at={b.created_at} />, csv: (b) => b.created_at },
    { id: 'created_by', title: t('prices.by'), cell: (b) => <code>{b.created_by}</code>, csv: (b) => b.created_by },
  ]
  const add = may('manage_prices') ? <Button variant="filled" onClick={() => navigate('/prices/new')}>{t('prices.new')}</Button> : undefined
  return (
    <Page title={t('prices.title')} actions={add}>
      <Ready query={query}>
        <CutMark list={query} name={t('prices.title')} />
        <DataTable name="price-books" label={t('prices.title')} columns={columns} rowKey={(b) => String(b.version)}
          rows={state ? all.filter((b) => stateOf(b, now) === state) : all}
          tools={<NativeSelect label={t('prices.state')} value={state ?? ''} onChange={(e) => change({ state: e.currentTarget.value })}
            data={[{ value: '', label: t('ui.any') }, ...bookStates.map((value) => ({ value, label: t(`prices.state.${value}`) }))]} />}
          empty={all.length > 0 ? <NoneFits onClear={() => change({ state: '' })} /> : <EmptyState title={t('prices.none')} action={add}>{t('prices.none.hint')}</EmptyState>} />
      </Ready>
    </Page>
  )
}
