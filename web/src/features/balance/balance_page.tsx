import { Checkbox } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from '../../app/router/link'
import { pathTo, type PathParams } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { ApiError } from '../../api/problem'
import { useText } from '../../i18n/language'
import { type BalanceStep, useBalanceTrace } from '../../queries/balance'
import { Ago } from '../../ui/ago'
import { type Column, DataTable } from '../../ui/data_table'
import { formatShare, nothing } from '../../ui/format'
import { Facts, Page, Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { StatePill, type Tone } from '../../ui/state_pill'
import { Ready, StaleMark } from '../../ui/states'
import { Time } from '../../ui/zone'
import { BalanceChart } from './balance_chart'
import { Faults } from './faults'
import { HowToBalance } from './how_to'
import { OutcomePill } from './outcome_pill'
import { changesOf, deedsOf, lawText, pointsOf, regionText, signed } from './steps'

type Live = ReturnType<typeof useBalanceTrace>['live']

/** One unit's balance loop, live: error and output over time, the gains, what was done and why. */
export function BalancePage({ params }: { params: PathParams }) {
  const t = useText()
  const center = params.center ?? ''
  const unit = params.unit ?? ''
  const { query, live } = useBalanceTrace(center, unit)
  const steps = query.data ?? []
  const isUnknown = query.error instanceof ApiError && query.error.status === 404
  return (
    <Page title={`${center} / ${unit}`} mark={isUnknown ? null : <StreamMark live={live} />}>
      {isUnknown ? <HowToBalance title={t('balance.none.trace')} /> : (
        <Ready query={query}>
          {live.state === 'broken' ? <StaleMark since={live.since} /> : null}
          {steps.length === 0 ? <HowToBalance title={t('balance.none.trace')} /> : <Trace center={center} unit={unit} steps={steps} />}
        </Ready>
      )}
    </Page>
  )
}

function StreamMark({ live }: { live: Live }) {
  const t = useText()
  const tones: Record<Live['state'], Tone> = { live: 'good', connecting: 'idle', broken: 'warn' }
  const text = live.state === 'live' ? t('balance.live') : live.state === 'connecting' ? t('balance.live.connecting') : t('balance.live.broken')
  return <StatePill tone={tones[live.state]}>{text}</StatePill>
}

function Trace({ center, unit, steps }: { center: string; unit: string; steps: readonly BalanceStep[] }) {
  const t = useText()
  const newest = steps[steps.length - 1]
  const isMeasured = pointsOf(steps, 'error').some(([, value]) => value !== null)
  return (
    <>
      <Section title={t('balance.chart')}>
        {isMeasured ? <BalanceChart unit={`${center} / ${unit}`} steps={steps} /> : <p className="dim">{t('balance.chart.none')}</p>}
      </Section>
      {newest ? <Section title={t('balance.now')}><Now center={center} step={newest} /></Section> : null}
      <Deeds steps={steps} />
    </>
  )
}

function Now({ center, step }: { center: string; step: BalanceStep }) {
  const t = useText()
  const { proportional, integral, derivative } = step.gains
  const gains = [proportional, integral, derivative].map((gain) => (gain === null ? nothing : gain.toFixed(3))).join(', ')
  const items: [string, ReactNode][] = [
    [t('balance.outcome'), <OutcomePill key="o" step={step} />],
    [t('balance.reason'), step.reason ? <ServerText key="r">{step.reason}</ServerText> : null],
    [t('balance.error'), signed(step.error)],
    [t('balance.output'), signed(step.output)],
    [t('balance.transfer'), formatShare(step.transfer)],
    [t('balance.load'), formatShare(step.load)],
    [t('balance.band'), step.band === null ? null : t('balance.band.text', { band: step.band })],
    [t('balance.gains'), gains],
    [t('balance.region'), regionText(t, step.region)],
    [t('balance.law'), lawText(t, step.law)],
    [t('balance.mode'), t(step.dry_run ? 'balance.mode.dry' : 'balance.mode.acts')],
    [t('balance.wanted'), step.wanted_sub_units],
    [t('balance.job'), step.job_id ? <Link key="j" href={`/jobs/${step.job_id}`}><code>{step.job_id}</code></Link> : null],
    [t('balance.center'), <Link key="c" href={pathTo('/centers/:center', { center })}>{center}</Link>],
    [t('balance.newest'), <Ago key="n" at={step.at} />],
    [t('balance.faults'), step.faults.length > 0 ? <Faults key="f" step={step} /> : null],
  ]
  return <Facts items={items} />
}

function Deeds({ steps }: { steps: readonly BalanceStep[] }) {
  const t = useText()
  const [raw, change] = useFilters(['all'])
  const isAll = raw.all === 'true'
  const actions = (step: BalanceStep) => {
    const text = changesOf(step).map(({ kind, by }) => t(`balance.change.${kind}`, { by: signed(by, 0) ?? '' })).join(', ')
    return step.dry_run && text ? t('balance.actions.dry', { text }) : text
  }
  const columns: Column<BalanceStep>[] = [
    { id: 'at', title: t('balance.at'), cell: (step) => <Time at={step.at} />, csv: (step) => step.at },
    { id: 'outcome', title: t('balance.outcome'), cell: (step) => <OutcomePill step={step} />, csv: (step) => step.outcome },
    { id: 'error', title: t('balance.error'), isNumber: true, cell: (step) => signed(step.error) ?? nothing, csv: (step) => step.error },
    { id: 'output', title: t('balance.output'), isNumber: true, cell: (step) => signed(step.output) ?? nothing, csv: (step) => step.output },
    { id: 'actions', title: t('balance.actions'), cell: (step) => actions(step) || nothing, csv: actions },
    { id: 'reason', title: t('balance.reason'), isText: true, cell: (step) => <ServerText>{step.reason}</ServerText>, csv: (step) => step.reason },
    { id: 'faults', title: t('balance.faults'), isText: true, isHidden: true, cell: (step) => (step.faults.length > 0 ? <Faults step={step} /> : nothing), csv: (step) => step.faults.join('; ') },
    { id: 'transfer', title: t('balance.transfer'), isNumber: true, isHidden: true, cell: (step) => formatShare(step.transfer), csv: (step) => step.transfer },
    { id: 'load', title: t('balance.load'), isNumber: true, isHidden: true, cell: (step) => formatShare(step.load), csv: (step) => step.load },
    { id: 'proportional', title: 'K_p', isNumber: true, isHidden: true, cell: (step) => step.gains.proportional?.toFixed(3) ?? nothing, csv: (step) => step.gains.proportional },
    { id: 'integral', title: 'K_i', isNumber: true, isHidden: true, cell: (step) => step.gains.integral?.toFixed(3) ?? nothing, csv: (step) => step.gains.integral },
    { id: 'derivative', title: 'K_d', isNumber: true, isHidden: true, cell: (step) => step.gains.derivative?.toFixed(3) ?? nothing, csv: (step) => step.gains.derivative },
  ]
  return (
    <Section title={t('balance.deeds')}>
      <DataTable name="balance-steps" label={t('balance.deeds')} columns={columns} rows={deedsOf(steps, isAll)} rowKey={(step) => String(step.number)}
        tools={<Checkbox label={t('balance.deeds.all')} checked={isAll} onChange={(e) => change({ all: e.currentTarget.checked ? 'true' : '' })} />}
        empty={<p className="dim">{t('balance.deeds.none')}</p>} />
    </Section>
  )
}
