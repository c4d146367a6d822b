import { Button, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { useFilters } from '../../../app/router/search'
import type { TextKey } from '../../../i18n/en'
import { useText } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import { type Candidate, type PlacementPreview, usePlacementPreview } from '../../../queries/placement_preview'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatDuration, formatEnergy, formatMoney, nothing } from '../../../ui/format'
import { MomentFilter } from '../../../ui/forms/moment_filter'
import { TextFilter } from '../../../ui/forms/text_filter'
import { Section } from '../../../ui/page'
import { ErrorState, LoadingState } from '../../../ui/states'
import { useCenterOptions } from '../../centers/center_options'
import { CandidatesTable } from '../../routing/candidates_table'
import { Place } from '../../routing/place'
import { placeName } from '../../routing/place_name'
import { expectedWait, knownInterval, knownSeconds, predictedDuration, predictedInterval } from '../../routing/predicted'
import { asNow, isOtherwise, otherwise, type WhatIf } from './what_if'
import styles from './what_if.module.css'

const names = ['count', 'prefer', 'deadline', 'budget', 'currency', 'center'] as const

/** Where a job would go now, and where it would go if it asked for something else. Nothing is submitted. */
export function JobWhatIfTab({ job }: { job: Job }) {
  const t = useText()
  const [whatIf, change] = useFilters(names)
  // Of one moment, so that what is asked does not change with each drawing.
  const [spec] = useState(() => asNow(job.spec, Date.now()))
  const isChanged = isOtherwise(whatIf)
  const now = usePlacementPreview(spec)
  const currency = whatIf.currency || spec.budget?.currency || now.data?.expected_cost?.cost.currency || ''
  const then = usePlacementPreview(isChanged ? otherwise(spec, { ...whatIf, currency }) : null)
  return (
    <>
      <p className="dim">{t('jobs.whatif.hint')}</p>
      <Form whatIf={whatIf} currency={currency} isChanged={isChanged} change={change} />
      {now.isError ? <ErrorState error={now.error} /> : !now.data ? <LoadingState /> : (
        <Comparison now={now.data} then={isChanged && !then.isError ? then.data : undefined} />
      )}
      {!isChanged ? <p className="dim">{t('jobs.whatif.idle')}</p>
        : then.isError ? <ErrorState error={then.error} title={t('jobs.whatif.refused')} />
          : !then.data ? <LoadingState /> : (
            <Section title={t('jobs.whatif.candidates')}><CandidatesTable decision={then.data.decision} /></Section>
          )}
    </>
  )
}

function Form({ whatIf, currency, isChanged, change }: {
  whatIf: WhatIf
  currency: string
  isChanged: boolean
  change: (values: Partial<WhatIf>) => void
}) {
  const t = useText()
  const centers = useCenterOptions({ none: t('jobs.whatif.same'), chosen: whatIf.center === '*' ? '' : whatIf.center })
  return (
    <div className={styles.form} role="group" aria-label={t('jobs.tab.whatif')}>
      <TextFilter label={t('jobs.whatif.count')} value={whatIf.count} width={110} placeholder={t('jobs.whatif.same')} onChange={(count) => change({ count })} />
      <NativeSelect label={t('jobs.whatif.prefer')} value={whatIf.prefer} onChange={(e) => change({ prefer: e.currentTarget.value })}
        data={[{ value: '', label: t('jobs.whatif.same') }, ...(['fastest', 'cheapest', 'greenest'] as const).map((value) => ({ value, label: t(`submit.prefer.${value}`) }))]} />
      <NativeSelect label={t('jobs.center')} value={whatIf.center} onChange={(e) => change({ center: e.currentTarget.value })}
        data={[...centers.slice(0, 1), { value: '*', label: t('ui.any') }, ...centers.slice(1)]} />
      <MomentFilter label={t('submit.deadline')} value={whatIf.deadline} onChange={(deadline) => change({ deadline })} />
      <TextFilter label={t('submit.budget')} value={whatIf.budget} width={110} placeholder={t('jobs.whatif.same')} onChange={(budget) => change({ budget })} />
      <TextFilter label={t('submit.currency')} value={currency} width={80} onChange={(code) => change({ currency: code.toUpperCase() })} />
      <Button disabled={!isChanged} onClick={() => change({ count: '', prefer: '', deadline: '', budget: '', currency: '', center: '' })}>{t('jobs.whatif.reset')}</Button>
    </div>
  )
}

interface Row {
  id: 'now' | 'then'
  winner: Candidate | undefined
}

function winnerOf({ decision }: PlacementPreview): Candidate | undefined {
  return decision.winner === null ? undefined : decision.candidates[decision.winner]
}

function verdictOf(now: Candidate | undefined, then: Candidate | undefined): TextKey {
  if (!then) return 'submit.preview.none'
  return now?.unit_type_id === then.unit_type_id && now.unit_count === then.unit_count ? 'jobs.whatif.stays' : 'jobs.whatif.moves'
}

function Comparison({ now, then }: { now: PlacementPreview; then: PlacementPreview | undefined }) {
  const t = useText()
  const rows: Row[] = [{ id: 'now', winner: winnerOf(now) }, ...(then ? [{ id: 'then' as const, winner: winnerOf(then) }] : [])]
  const columns: Column<Row>[] = [
    { id: 'case', title: t('jobs.whatif.case'), cell: (row) => t(`jobs.whatif.${row.id}`), csv: (row) => row.id },
    { id: 'place', title: t('jobs.place'), cell: ({ winner }) => (winner ? <Place at={winner} /> : t('jobs.whatif.nowhere')), csv: ({ winner }) => (winner ? placeName(winner) : '') },
    { id: 'wait', title: t('jobs.wait'), isNumber: true, cell: ({ winner: c }) => formatDuration(c && expectedWait(c)), csv: ({ winner: c }) => c && expectedWait(c) },
    { id: 'run', title: t('jobs.run'), isNumber: true, cell: ({ winner: c }) => (c ? predictedDuration(c, c.prediction?.run_s) : nothing), csv: ({ winner: c }) => c && knownSeconds(c, c.prediction?.run_s) },
    { id: 'interval', title: t('jobs.interval'), isNumber: true, cell: ({ winner: c }) => (c ? predictedInterval(c) : nothing),
      csv: ({ winner: c }) => (c ? knownInterval(c) : '') },
    { id: 'completion', title: t('jobs.completion'), isNumber: true, cell: ({ winner: c }) => (c ? predictedDuration(c, c.completion_s) : nothing), csv: ({ winner: c }) => c && knownSeconds(c, c.completion_s) },
    { id: 'cost', title: t('jobs.cost'), isNumber: true, cell: ({ winner: c }) => formatMoney(c?.cost), csv: ({ winner: c }) => (c?.cost ? formatMoney(c.cost) : '') },
    { id: 'energy_j', title: t('jobs.energy'), isNumber: true, cell: ({ winner: c }) => formatEnergy(c?.energy_j), csv: ({ winner: c }) => c?.energy_j },
  ]
  return (
    <Section title={t('jobs.whatif.title')}>
      <p role="status">{then ? t(verdictOf(winnerOf(now), winnerOf(then))) : ''}</p>
      <DataTable isPlain name="what-if" label={t('jobs.whatif.title')} columns={columns} rows={rows} rowKey={(row) => row.id} />
    </Section>
  )
}
