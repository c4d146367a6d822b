import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { type Translate, useText } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import { type Column, DataTable } from '../../../ui/data_table'
import { formatBytes, formatDuration, nothing } from '../../../ui/format'
import { Section } from '../../../ui/page'
import { ServerText } from '../../../ui/server_text'
import { StatePill } from '../../../ui/state_pill'
import { Time } from '../../../ui/zone'
import { JobStatePill } from '../job_state'
import { type PartRow, partsOf } from './job_parts'

type JobSteps = NonNullable<Job['steps']>
type Division = NonNullable<JobSteps['division']>
type WeighedStep = Division['steps'][number]

/** Of a job with steps: whether it runs whole or in parts and why, where each part is, and what its steps take on each kind of unit. */
export function JobPartsTab({ job }: { job: Job }) {
  const t = useText()
  const { steps } = job
  if (!steps) return null
  const parts = partsOf(job)
  return (
    <>
      <Section title={t('jobs.parts')}>
        <p><Headline steps={steps} /></p>
        {parts.length > 0 ? <PartsTable parts={parts} /> : null}
      </Section>
      {steps.division && steps.division.steps.length > 0 ? <WeighedSteps division={steps.division} /> : null}
    </>
  )
}

function Headline({ steps }: { steps: JobSteps }) {
  const t = useText()
  const { division } = steps
  if (steps.split !== 'allowed') return <>{t('jobs.parts.never')}</>
  if (!division) return <>{t('jobs.parts.open')}</>
  if (steps.parts.length > 0) {
    const onGpu = division.whole_on === 'GPU'
    return <>{t('jobs.parts.divided', {
      total: formatDuration(division.total_s), passing: formatDuration(division.passing_s), device: division.whole_on ?? nothing,
      whole: formatDuration(onGpu ? division.gpu_s : division.cpu_s),
    })}</>
  }
  return division.reason ? <>{t('jobs.parts.whole')} <ServerText>{division.reason}</ServerText></> : <>{t('jobs.parts.whole.better')}</>
}

function stateText(t: Translate, part: PartRow): string {
  return part.state ? t(`jobs.state.${part.state}`) : t(part.isDropped ? 'jobs.parts.dropped' : 'jobs.parts.to_come')
}

function predictedText({ placed }: PartRow): string {
  return placed ? `${formatDuration(placed.run_s)} (${formatDuration(placed.low_s)} – ${formatDuration(placed.high_s)})` : nothing
}

function PartsTable({ parts }: { parts: readonly PartRow[] }) {
  const t = useText()
  const columns: Column<PartRow>[] = [
    { id: 'part', title: t('jobs.parts.part'), isNumber: true, cell: (p) => p.number, csv: (p) => p.number },
    { id: 'steps', title: t('jobs.parts.steps'), cell: (p) => p.steps.join(', '), csv: (p) => p.steps.join(' ') },
    { id: 'device', title: t('jobs.parts.device'), cell: (p) => (p.isOnGpu ? 'GPU' : 'CPU'), csv: (p) => (p.isOnGpu ? 'GPU' : 'CPU') },
    { id: 'place', title: t('jobs.place'), cell: (p) => <PlaceOfPart part={p} />, csv: (p) => (p.center ? `${p.center}/${p.unitType}` : '') },
    { id: 'state', title: t('jobs.state'), csv: (p) => stateText(t, p),
      cell: (p) => (p.state ? <JobStatePill state={p.state} /> : <StatePill tone="idle">{stateText(t, p)}</StatePill>) },
    { id: 'started', title: t('jobs.started'), cell: (p) => <Time at={p.startedAt} />, csv: (p) => p.startedAt },
    { id: 'ended', title: t('jobs.ended'), cell: (p) => <Time at={p.endedAt} />, csv: (p) => p.endedAt },
    { id: 'planned', title: t('jobs.parts.planned'), isNumber: true, cell: (p) => formatDuration(p.plannedS), csv: (p) => p.plannedS },
    { id: 'predicted', title: t('jobs.predicted'), isNumber: true, cell: (p) => predictedText(p), csv: (p) => p.placed?.run_s },
    { id: 'run', title: t('jobs.run'), isNumber: true, cell: (p) => formatDuration(p.runS), csv: (p) => p.runS },
    { id: 'hands_on', title: t('jobs.parts.hands_on'), cell: (p) => <HandedOn part={p} />, csv: (p) => p.handsOn.map((one) => one.path).join(' ') },
  ]
  return <DataTable isPlain name="job-parts" label={t('jobs.parts')} columns={columns} rows={parts} rowKey={(p) => String(p.number)} />
}

function PlaceOfPart({ part }: { part: PartRow }) {
  if (!part.center) return <>{nothing}</>
  return (
    <span style={{ whiteSpace: 'nowrap' }}>
      <Link className="in-text" href={pathTo('/centers/:center', { center: part.center })}>{part.center}</Link> / {part.unitType}
    </span>
  )
}

/** By which paths the next part finds it, where it is stored between them, and how much it is. */
function HandedOn({ part }: { part: PartRow }) {
  const t = useText()
  if (part.handsOn.length === 0) return <>{nothing}</>
  const size = part.handsOnBytes === null ? null : t('jobs.parts.hands_on.size', { size: formatBytes(part.handsOnBytes) })
  return (
    <>
      {part.handsOn.map(({ path, url }) => <div key={path}><code>{path}</code> <span className="dim">{url}</span></div>)}
      {size ? <span className="dim">{size}</span> : null}
    </>
  )
}

/** What it was decided by. */
function WeighedSteps({ division }: { division: Division }) {
  const t = useText()
  const columns: Column<WeighedStep>[] = [
    { id: 'name', title: t('jobs.parts.step'), cell: (s) => s.name, csv: (s) => s.name },
    { id: 'cpu', title: t('jobs.parts.on_cpu'), isNumber: true, cell: (s) => formatDuration(s.cpu_s), csv: (s) => s.cpu_s },
    { id: 'gpu', title: t('jobs.parts.on_gpu'), isNumber: true, cell: (s) => formatDuration(s.gpu_s), csv: (s) => s.gpu_s },
    { id: 'passing', title: t('jobs.parts.passing'), isNumber: true, cell: (s) => formatDuration(s.passing_s), csv: (s) => s.passing_s },
    { id: 'on', title: t('jobs.parts.best'), cell: (s) => s.run_on, csv: (s) => s.run_on },
  ]
  return (
    <Section title={t('jobs.parts.weighed')}
      side={<span className="dim">{t('jobs.parts.weighed.at', { center: division.center, cpu: division.cpu_unit_type, gpu: division.gpu_unit_type })}</span>}>
      <DataTable isPlain name="job-steps" label={t('jobs.parts.weighed')} columns={columns} rows={division.steps} rowKey={(s) => s.name} />
    </Section>
  )
}
