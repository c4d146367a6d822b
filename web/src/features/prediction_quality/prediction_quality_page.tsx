import { Button, NativeSelect } from '@mantine/core'
import { useEffect, useMemo } from 'react'
import { Link } from '../../app/router/link'
import { useFilters } from '../../app/router/search'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type NetworkCalibration, type PredictionFilters, useCalibration, useDeviceAccuracy, useEndedPredictions, useOperatorAccuracy } from '../../queries/calibration'
import { useTrust } from '../../queries/trust'
import { loadCharts } from '../../ui/chart'
import { Page, Section } from '../../ui/page'
import { EmptyState, Ready } from '../../ui/states'
import { AttemptsTable } from './attempts_table'
import { Residuals, Scatter } from './charts'
import styles from './prediction_quality.module.css'
import { pointsOf } from './residuals'
import { Summary } from './summary'
import { DeviceTable, OperatorTable, RungTable, TrustTable, TypeTable, UnitTable } from './tables'

const filterNames = ['unit_type', 'job_type'] as const

/** How well run times, waits and costs were predicted, and how far measurements can be believed. */
export function PredictionQualityPage() {
  const t = useText()
  const { may } = useSession()
  const query = useCalibration()
  const isNothing = query.data !== undefined && query.data.run.job_count === 0 && query.data.by_unit_type.length === 0
  return (
    <Page title={t('quality.title')}>
      <AskAtOnce />
      {may('read_jobs') ? <AskForPredictions /> : null}
      <Ready query={query}>
        {isNothing ? (
          <Section title={t('quality.summary')}>
            <EmptyState title={t('quality.none')}
              action={may('submit_jobs') ? <Link href="/submit">{t('quality.none.submit')}</Link> : <Link href="/jobs">{t('quality.none.jobs')}</Link>}>
              {t('quality.none.hint')}
            </EmptyState>
          </Section>
        ) : query.data ? <Quality calibration={query.data} /> : null}
        {isNothing ? <Section title={t('quality.trust')}><TrustTable /></Section> : null}
      </Ready>
    </Page>
  )
}

/** What the sections ask for is asked for with the calibration, not after it. */
function AskAtOnce() {
  useTrust()
  useDeviceAccuracy()
  useOperatorAccuracy()
  return null
}

function AskForPredictions() {
  const [filters] = useFilters(filterNames)
  useEndedPredictions(filters)
  useEffect(loadCharts, [])
  return null
}

function Quality({ calibration }: { calibration: NetworkCalibration }) {
  const t = useText()
  const { may } = useSession()
  const [filters, change] = useFilters(filterNames)
  const unit = calibration.by_unit_type.find((row) => row.unit_type_id === filters.unit_type)
  const type = calibration.by_job_type.find((row) => row.job_type === filters.job_type)
  // REST calibrates by one of the two; the charts below heed both.
  const chosen = unit ?? (filters.job_type ? type : undefined) ?? calibration
  return (
    <>
      <div className={styles.filters}>
        <NativeSelect label={t('quality.unit')} value={filters.unit_type} onChange={(e) => change({ unit_type: e.currentTarget.value })}
          data={[{ value: '', label: t('quality.any') }, ...calibration.by_unit_type.map((row) => ({ value: row.unit_type_id, label: `${row.center} / ${row.unit_type}` }))]} />
        <NativeSelect label={t('quality.type')} value={filters.job_type} onChange={(e) => change({ job_type: e.currentTarget.value })}
          data={[{ value: '', label: t('quality.type.any') }, ...calibration.by_job_type.filter((row) => row.job_type).map((row) => row.job_type)]} />
      </div>
      <Section title={t('quality.summary')}><Summary of={{ ...chosen, currency: calibration.currency }} /></Section>
      {may('read_jobs') ? <Charts filters={filters} clear={() => change({ unit_type: '', job_type: '' })} /> : null}
      <Section title={t('quality.units')}><UnitTable rows={calibration.by_unit_type} /></Section>
      <Section title={t('quality.types')}><TypeTable rows={calibration.by_job_type} /></Section>
      {calibration.by_rung ? <Section title={t('quality.rungs')}><RungTable rows={calibration.by_rung} /></Section> : null}
      <Section title={t('quality.trust')}><TrustTable /></Section>
      <Section title={t('quality.devices')}><DeviceTable /></Section>
      <Section title={t('quality.operators')}><OperatorTable /></Section>
      {may('read_jobs') ? <Attempts filters={filters} /> : null}
    </>
  )
}

function Charts({ filters, clear }: { filters: PredictionFilters; clear: () => void }) {
  const t = useText()
  const query = useEndedPredictions(filters)
  const items = query.items
  const points = useMemo(() => pointsOf(items ?? []), [items])
  const isFiltered = filters.unit_type !== '' || filters.job_type !== ''
  return (
    <Ready query={query}>
      {items?.length === 0 ? (isFiltered
        ? <EmptyState title={t('quality.none.filter')} action={<Button onClick={clear}>{t('quality.none.clear')}</Button>} />
        : <EmptyState title={t('quality.none.own')}>{t('quality.none.hint')}</EmptyState>
      ) : (
        <>
          <div className={styles.charts}>
            <Section title={t('quality.scatter')}><Scatter points={points} /></Section>
            <Section title={t('quality.residuals')}><Residuals points={points} /></Section>
          </div>
          <p className="dim">{t(query.hasNextPage ? 'quality.shown.more' : 'quality.shown', { n: points.length })}</p>
        </>
      )}
    </Ready>
  )
}

/** The same predictions in words, for who cannot see the charts or wants every figure. */
function Attempts({ filters }: { filters: PredictionFilters }) {
  const t = useText()
  const query = useEndedPredictions(filters)
  if (!query.items?.length) return null
  return <Section title={t('quality.attempts')}><AttemptsTable predictions={query.items} pages={query} /></Section>
}
