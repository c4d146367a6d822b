import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { changeFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { type Translate, useText } from '../../../i18n/language'
import type { Job, Placement } from '../../../queries/jobs'
import { usePlacement } from '../../../queries/jobs'
import { Facts, Section } from '../../../ui/page'
import { knownWord } from '../../../ui/known_word'
import { ServerText } from '../../../ui/server_text'
import { EmptyState, Ready } from '../../../ui/states'
import { formatTime } from '../../../ui/format'
import { Time, useZone } from '../../../ui/zone'
import { CandidatesTable } from '../../routing/candidates_table'
import { DecisionEvidence } from '../../routing/decision_evidence'
import { JobGpus } from './job_gpus'
import { PredictedAgainstActual } from './predicted_against_actual'

/** Why a job runs where it does, or why it waits. */
export function JobWhyTab({ job, isWaiting }: { job: Job; isWaiting: boolean }) {
  const t = useText()
  const query = usePlacement(job.id, isWaiting)
  const placement = query.data
  return (
    <Ready query={query}>
      <JobGpus job={job} />
      {placement?.waiting ? <Waiting waiting={placement.waiting} /> : null}
      {placement?.actual ? <PredictedAgainstActual actual={placement.actual} /> : null}
      {placement?.decision ? (
        <>
          <Section title={t('jobs.why.candidates')} side={<Decided placement={placement} />}>
            <CandidatesTable decision={placement.decision} />
          </Section>
          <DecisionEvidence decision={placement.decision} />
        </>
      ) : placement ? <EmptyState title={t('jobs.why.none')} /> : null}
    </Ready>
  )
}

/** When and by whom it was decided, and with which jobs: those of its cycle, for who may see everybody's. */
function Decided({ placement }: { placement: Placement }) {
  const t = useText()
  const { zone } = useZone()
  const { may } = useSession()
  if (!placement.decided_at) return <span className="dim">{t('jobs.why.now')}</span>
  const text = t('jobs.why.decided', { time: formatTime(placement.decided_at, zone), replica: placement.decided_by ?? '' })
  if (!placement.cycle_id || !may('read_all_jobs')) return <span className="dim">{text}</span>
  const cycle = pathTo('/cycles/:id', { id: placement.cycle_id }) + changeFilters('', { job: placement.job_id })
  return <span className="dim">{text} · <Link className="in-text" href={cycle}>{t('jobs.why.cycle')}</Link></span>
}

const kinds = ['metering', 'host', 'quota', 'window', 'price', 'maintenance', 'gpu_memory', 'units', 'priority_rank', 'elsewhere', 'closed', 'impossible'] as const

function labelOf(t: Translate, kind: string): string | undefined {
  const known = knownWord(kinds, kind)
  return known ? t(`jobs.waiting.${known}`) : undefined
}

function Waiting({ waiting }: { waiting: NonNullable<Placement['waiting']> }) {
  const t = useText()
  return (
    <Section title={t('jobs.tab.waiting')}>
      <ol>{waiting.reasons.map((reason, i) => <li key={i}><ServerText label={labelOf(t, reason.kind)}>{reason.text}</ServerText></li>)}</ol>
      <Facts items={[
        [t('jobs.waiting.start'), waiting.expected_start ? <Time key="s" at={waiting.expected_start.at} /> : t('jobs.waiting.never')],
        ...(waiting.expected_start ? [[t('jobs.interval'), <span key="i"><Time at={waiting.expected_start.low} /> – <Time at={waiting.expected_start.high} /></span>]] as const : []),
      ]} />
    </Section>
  )
}
