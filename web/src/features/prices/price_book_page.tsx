import { Button } from '@mantine/core'
import { navigate } from '../../app/router/location'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type PriceBook, useCurrentPriceBook, usePriceBook } from '../../queries/price_books'
import { CopyButton } from '../../ui/copy_button'
import { Facts, Page, Section } from '../../ui/page'
import { Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { BookState } from './book_state'
import { DiffTable } from './diff_table'
import { DocumentView } from './document_view'
import { printPrices } from './parse'
import styles from './prices.module.css'

/** One version: its prices, and in what it differs from those in force. */
export function PriceBookPage({ params }: { params: Record<string, string> }) {
  const t = useText()
  const { may } = useSession()
  const version = params.version ?? ''
  const query = usePriceBook(version)
  const book = query.data
  return (
    <Page title={t('prices.book', { n: version })} mark={book ? <BookState book={book} now={query.dataUpdatedAt} /> : undefined}
      actions={book && may('manage_prices') ? <Button onClick={() => navigate(`/prices/new?of=${book.version}`)}>{t('prices.edit')}</Button> : undefined}>
      <Ready query={query}>{book ? <Content book={book} /> : null}</Ready>
    </Page>
  )
}

function Content({ book }: { book: PriceBook }) {
  const t = useText()
  const current = useCurrentPriceBook()
  return (
    <>
      <Section title={t('prices.version')}>
        <Facts items={[
          [t('prices.currency'), book.currency], [t('prices.entries'), book.entry_count], [t('prices.from'), <Time key="f" at={book.valid_from} />],
          [t('prices.created'), <Time key="c" at={book.created_at} />], [t('prices.by'), <code key="b">{book.created_by}</code>],
        ]} />
      </Section>
      <DocumentView document={book.document} />
      {book.in_force ? null : (
        <Section title={t('prices.diff')}>
          <Ready query={current}><DiffTable current={current.data ?? null} document={book.document} /></Ready>
        </Section>
      )}
      <Section title={t('prices.json')} side={<CopyButton value={printPrices(book.document)} />}>
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
        <pre className={styles.json} tabIndex={0} role="region" aria-label={t('prices.json.label')}>{printPrices(book.document)}</pre>
      </Section>
    </>
  )
}
