import type { ReactNode } from 'react'
import { Link } from '../../../app/router/link'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import type { Job } from '../../../queries/jobs'
import { type SharedGpu, useGpusOfJob } from '../../../queries/shared_gpus'
import { DataTable } from '../../../ui/data_table'
import { formatBytes } from '../../../ui/format'
import { Facts, Section } from '../../../ui/page'
import { Time } from '../../../ui/zone'
import { useGpuProgramColumns } from '../../unit_types/gpu_program_columns'
import { neighboursOf } from './gpu_neighbours'

/** Of a job that runs: the GPUs that it shares, with whom, and what sharing costs it; also of one that has a shared GPU to itself. */
export function JobGpus({ job }: { job: Job }) {
  const { may } = useSession()
  const isRunning = job.state === 'running'
  const query = useGpusOfJob(job.id, isRunning && may('read_network'))
  return isRunning ? <SharedGpusOfJob job={job.id} gpus={query.data ?? []} /> : null
}

export function SharedGpusOfJob({ job, gpus }: { job: string; gpus: readonly SharedGpu[] }) {
  const t = useText()
  if (gpus.length === 0) return null
  return <Section title={t('jobs.gpus')}>{gpus.map((gpu) => <Gpu key={`${gpu.center_id} ${gpu.gpu}`} job={job} gpu={gpu} />)}</Section>
}

function Gpu({ job, gpu }: { job: string; gpu: SharedGpu }) {
  const t = useText()
  // All of them are of the job whose page this is.
  const columns = useGpuProgramColumns().filter((column) => column.id !== 'job')
  return (
    <>
      <Facts items={[
        [t('units.gpus.gpu'), <code key="g">{gpu.gpu}</code>],
        [t('jobs.gpus.with'), <Neighbours key="w" job={job} gpu={gpu} />],
        [t('units.gpus.capacity'), formatBytes(gpu.capacity_bytes)],
        [t('units.gpus.free'), formatBytes(gpu.free_bytes)],
        [t('units.changed'), <Time key="t" at={gpu.reported_at} />],
      ]} />
      <DataTable isPlain name="job-gpu-programs" label={`${t('units.gpus.programs')}: ${gpu.gpu}`} columns={columns}
        rows={gpu.jobs.filter((program) => program.job === job)} rowKey={(program) => String(program.process)} />
    </>
  )
}

function Neighbours({ job, gpu }: { job: string; gpu: SharedGpu }) {
  const t = useText()
  const { jobs, otherCount } = neighboursOf(gpu, job)
  const parts: ReactNode[] = jobs.map((name) => <Link key={name} href={`/jobs/${name}`}><code>{name}</code></Link>)
  if (otherCount > 0) parts.push(<span key="">{t('jobs.gpus.others', { n: otherCount })}</span>)
  if (parts.length === 0) return <>{t('jobs.gpus.alone')}</>
  return <>{parts.flatMap((part, i) => (i === 0 ? [part] : [', ', part]))}</>
}
