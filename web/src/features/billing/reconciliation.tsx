import { Button, FileButton, NativeSelect, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { readUsage } from '../../queries/usage'
import { type Column, DataTable } from '../../ui/data_table'
import { formatDuration, nothing } from '../../ui/format'
import { EmptyState, ErrorState } from '../../ui/states'
import { useCenterOptions } from '../centers/center_options'
import styles from './billing.module.css'
import { type Accounted, type Comparison, compareUsage, parseSacct } from './reconcile'

/** What was metered against what a center's batch system accounted. The file is read here and sent nowhere. */
export function Reconciliation() {
  const t = useText()
  const [raw, change] = useFilters(['center', 'from', 'until'])
  const centers = useCenterOptions({ none: nothing, chosen: raw.center })
  const [file, setFile] = useState<{ name: string; text: string } | null>(null)
  const [tolerance, setTolerance] = useState('2')
  const compare = useMutation({
    mutationFn: async (elapsed: ReadonlyMap<string, number>) => compareUsage(await readUsage(raw), elapsed, Number(tolerance)),
  })
  const parsed = file ? parseSacct(file.text) : null
  const isTolerance = /^\d+(\.\d+)?$/.test(tolerance)
  const canCompare = parsed?.elapsed && raw.center !== '' && raw.from !== '' && raw.until !== '' && isTolerance
  const wrong = parsed?.wrong
  return (
    <>
      <p className="dim">{t('billing.reconcile.hint')} <code>sacct -P --allocations --format=JobName,ElapsedRaw -S … -E …</code></p>
      <form onSubmit={(event) => {
        event.preventDefault()
        if (canCompare && parsed.elapsed) compare.mutate(parsed.elapsed)
      }}>
        <div className={`${styles.row} ${styles.bottom}`}>
          <NativeSelect label={t('billing.center')} value={raw.center} required onChange={(e) => change({ center: e.currentTarget.value })}
            data={centers} />
          <TextInput type="date" required label={t('billing.from')} value={raw.from} onChange={(e) => change({ from: e.currentTarget.value })} />
          <TextInput type="date" required label={t('billing.until')} value={raw.until} onChange={(e) => change({ until: e.currentTarget.value })} />
          <TextInput label={t('billing.reconcile.tolerance')} inputMode="decimal" w={150} value={tolerance} error={isTolerance ? undefined : t('projects.edit.wrong')} onChange={(e) => setTolerance(e.currentTarget.value)} />
          <FileButton accept="text/plain,.txt,.csv,.psv" onChange={(chosen) => void chosen?.text().then((text) => setFile({ name: chosen.name, text }))}>
            {(button) => <Button {...button}>{file ? t('billing.reconcile.file.is', { name: file.name }) : t('billing.reconcile.file')}</Button>}
          </FileButton>
          <Button type="submit" variant="filled" disabled={!canCompare} loading={compare.isPending}>{t('billing.reconcile.do')}</Button>
        </div>
      </form>
      <div aria-live="polite">
        {wrong ? <p>{wrong.kind === 'head' ? t('billing.reconcile.head') : t('billing.reconcile.time', { text: wrong.text })}</p> : null}
        {compare.error ? <ErrorState error={compare.error} /> : null}
        {compare.data ? <Outcome comparison={compare.data} /> : null}
      </div>
    </>
  )
}

function Outcome({ comparison }: { comparison: Comparison }) {
  const t = useText()
  const difference = (one: Accounted) => (one.ours ?? 0) - (one.theirs ?? 0)
  const columns: Column<Accounted>[] = [
    { id: 'attempt_id', title: t('billing.reconcile.attempt'), cell: (a) => <code>{a.attempt}</code>, csv: (a) => a.attempt },
    { id: 'job_id', title: t('billing.job'), cell: (a) => (a.job ? <Link href={pathTo('/jobs/:id', { id: a.job })}><code>{a.job}</code></Link> : nothing), csv: (a) => a.job },
    { id: 'metered_s', title: t('billing.reconcile.ours'), isNumber: true, cell: (a) => formatDuration(a.ours), csv: (a) => a.ours },
    { id: 'accounted_s', title: t('billing.reconcile.theirs'), isNumber: true, cell: (a) => formatDuration(a.theirs), csv: (a) => a.theirs },
    { id: 'difference_s', title: t('billing.reconcile.difference'), isNumber: true, cell: (a) => `${difference(a) > 0 ? '+' : ''}${formatDuration(difference(a))}`, csv: difference },
  ]
  return (
    <>
      <p>{t('billing.reconcile.sum', { n: comparison.attempts, ours: formatDuration(comparison.ours), theirs: formatDuration(comparison.theirs), d: comparison.differences.length })}</p>
      <DataTable name="reconciliation" label={t('billing.tab.reconcile')} columns={columns} rows={comparison.differences} rowKey={(a) => a.attempt}
        empty={<EmptyState title={t('billing.reconcile.same')} />} />
    </>
  )
}
