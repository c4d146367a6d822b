import { Button, FileButton, Textarea } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Link } from '../../app/router/link'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { type PriceBook, useCurrentPriceBook, usePriceBook } from '../../queries/price_books'
import { Page, Section } from '../../ui/page'
import { Ready } from '../../ui/states'
import { DiffTable } from './diff_table'
import { type Parsed, parsePrices, printPrices } from './parse'
import styles from './prices.module.css'
import { SetPrices } from './set_prices'
import { Trial } from './trial'

const example = printPrices({ currency: 'EUR', entries: [{ center: '*', unit_type: '*', per_score_hour: '0.10' }] })

/** Prices as a document: changed, compared with those in force, tried, and set. */
export function PriceEditPage() {
  const t = useText()
  const [{ of }] = useFilters(['of'])
  const current = useCurrentPriceBook()
  const base = usePriceBook(of, of !== '')
  const query = of ? base : current
  return (
    <Page title={t('prices.edit.title')} actions={<Link href="/prices">{t('prices.edit.back')}</Link>}>
      <Ready query={query}>
        <Ready query={current}>
          <Editor key={of} begin={query.data ? printPrices(query.data.document) : example} current={current.data ?? null} />
        </Ready>
      </Ready>
    </Page>
  )
}

function Editor({ begin, current }: { begin: string; current: PriceBook | null }) {
  const t = useText()
  const [typed, setTyped] = useState(begin)
  const [parsed, setParsed] = useState<Parsed | null>(null)
  useEffect(() => {
    let isOld = false
    void parsePrices(typed).then((next) => {
      if (!isOld) setParsed(next)
    })
    return () => {
      isOld = true
    }
  }, [typed])
  const problem = parsed?.problem
  const error = !problem ? undefined : problem.kind === 'wrong' ? t('prices.json.wrong', { reason: problem.reason }) : t(`prices.json.${problem.kind}`)
  const document = parsed?.document ?? null
  return (
    <div className={styles.columns}>
      <Section title={t('prices.json')} side={
        <Button.Group>
          <FileButton accept=".json,.yaml,.yml,application/json" onChange={(file) => void file?.text().then(setTyped)}>
            {(button) => <Button size="compact-xs" {...button}>{t('prices.file')}</Button>}
          </FileButton>
          <Button size="compact-xs" disabled={!document} onClick={() => document && setTyped(printPrices(document))}>{t('prices.format')}</Button>
        </Button.Group>
      }>
        <Textarea label={t('prices.json.label')} description={t('prices.json.hint')} autosize minRows={16} maxRows={36} spellCheck={false} value={typed}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }} error={error} onChange={(event) => setTyped(event.currentTarget.value)} />
      </Section>
      <div>
        <Section title={t('prices.diff')}>{document ? <DiffTable current={current} document={document} /> : null}</Section>
        <Section title={t('prices.try')}><Trial document={document} /></Section>
        <Section title={t('prices.set')}><SetPrices document={document} current={current} /></Section>
      </div>
    </div>
  )
}
