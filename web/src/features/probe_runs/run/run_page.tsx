import { Link } from '../../../app/router/link'
import { type PathParams, pathTo } from '../../../app/router/match'
import { useSentence, useText } from '../../../i18n/language'
import { type ProbeRun, useProbeRun } from '../../../queries/probe_runs'
import { formatDuration } from '../../../ui/format'
import { Facts, Page, Section } from '../../../ui/page'
import { ServerText } from '../../../ui/server_text'
import { EmptyState, Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import measuring from '../../measuring/measuring.module.css'
import { RunStatePill } from '../run_state'
import { OperatorSamples } from './operator_samples'
import { RunResult } from './run_result'

export function RunPage({ params }: { params: PathParams }) {
  const t = useText()
  const say = useSentence()
  const query = useProbeRun(params.id ?? '')
  const run = query.data
  return (
    <Page title={t('runs.run')} mark={run ? <RunStatePill state={run.state} /> : undefined} actions={run?.order_id
      ? <Link href={pathTo('/probe-orders/:id', { id: run.order_id })}>{t('runs.order.runs')}</Link> : undefined}>
      <Ready query={query}>
        {run ? (
          <>
            <RunFacts run={run} />
            {run.result ? (
              <>
                <RunResult result={run.result} runId={run.id} />
                {run.result.operators.map((operator, i) => <OperatorSamples key={i} result={operator} />)}
              </>
            ) : (
              <Section title={t('runs.result')}>
                <EmptyState title={run.error ? t('runs.result.failed', { reason: say(run.error) }) : t('runs.result.none')} />
              </Section>
            )}
            {run.document ? (
              <Section title={t('runs.document')}>
                {/* A region that scrolls must be reachable by keyboard. */}
                {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
                <pre className={measuring.pre} tabIndex={0}>{JSON.stringify(run.document, null, 2)}</pre>
              </Section>
            ) : null}
          </>
        ) : null}
      </Ready>
    </Page>
  )
}

function RunFacts({ run }: { run: ProbeRun }) {
  const t = useText()
  return (
    <Section title={t('measure.details')}>
      <Facts items={[
        [t('ui.id'), <code key="i">{run.id}</code>],
        [t('runs.place'), <Link key="p" href={pathTo('/centers/:center', { center: run.center })}>{run.center} / {run.unit_type}</Link>],
        [t('measure.units'), run.unit_count || null],
        [t('runs.held'), run.units?.join(', ')],
        [t('runs.cpus'), run.cpus?.join(', ')],
        [t('runs.selection'), t(`runs.selection.${run.selection}`)],
        [t('runs.count_by'), t(`runs.count_by.${run.count_by}`)],
        [t('runs.mode'), run.mode === 'throughput' ? t('runs.mode.throughput') : null],
        [t('runs.able'), run.able_unit_types.join(', ')],
        [t('runs.cause'), t(`runs.cause.${run.cause}`)],
        [t('runs.task'), <Link key="t" href={pathTo('/probe-tasks/:id', { id: run.probe_task_id })}><code>{run.probe_task_id}</code></Link>],
        [t('runs.job'), <Link key="j" href={pathTo('/jobs/:id', { id: run.job_id })}><code>{run.job_id}</code></Link>],
        [t('measure.created'), <Time key="c" at={run.created_at} />],
        [t('measure.by'), <code key="b">{run.created_by}</code>],
        [t('runs.waited'), run.queue_wait_s === null ? null : formatDuration(run.queue_wait_s)],
        [t('runs.ended'), <Time key="e" at={run.ended_at} />],
        [t('runs.verification'), <span key="v">{t(`runs.verification.${run.verification}`)}{run.verification_detail ? <>: <ServerText>{run.verification_detail}</ServerText></> : null}</span>],
        ...(run.divides_run_id ? [[t('runs.divides'), <Link key="d" href={pathTo('/probe-runs/:id', { id: run.divides_run_id })}>{run.divides_run_id}</Link>] as const] : []),
        ...(run.repeats_run_id ? [[t('runs.repeats'), <Link key="r" href={pathTo('/probe-runs/:id', { id: run.repeats_run_id })}>{run.repeats_run_id}</Link>] as const] : []),
      ]} />
      {run.error ? <p className={measuring.bad}><ServerText>{run.error}</ServerText></p> : null}
    </Section>
  )
}
