import { Link } from '../../app/router/link'
import { useText } from '../../i18n/language'
import { type SharedGpu, useSharedGpus } from '../../queries/shared_gpus'
import type { UnitType } from '../../queries/unit_types'
import { DataTable } from '../../ui/data_table'
import { formatBytes } from '../../ui/format'
import { Facts, Section } from '../../ui/page'
import { EmptyState } from '../../ui/states'
import { Time } from '../../ui/zone'
import { useGpuProgramColumns } from './gpu_program_columns'
import { gpusOf, sharesByTurns } from './shared_by_turns'

/** The GPUs behind units that are turns on a GPU: what of their memory is taken, by whom, and what taking turns costs. */
export function SharedGpus({ unit }: { unit: UnitType }) {
  const t = useText()
  const isShared = sharesByTurns(unit)
  const query = useSharedGpus(unit.center, isShared)
  const gpus = gpusOf(unit, query.data ?? [])
  if (!isShared || gpus.length === 0) return null
  return (
    <Section title={t('units.gpus')} side={<Link href={`/shared-gpus?center=${encodeURIComponent(unit.center)}`}>{t('sharedgpus.title')}</Link>}>
      {gpus.map((gpu) => <Gpu key={gpu.gpu} gpu={gpu} />)}
    </Section>
  )
}

function Gpu({ gpu }: { gpu: SharedGpu }) {
  const t = useText()
  return (
    <>
      <Facts items={[
        [t('units.gpus.gpu'), <code key="g">{gpu.gpu}</code>], [t('units.gpus.capacity'), formatBytes(gpu.capacity_bytes)],
        [t('units.gpus.persistent'), formatBytes(gpu.persistent_bytes)], [t('units.gpus.temporary'), formatBytes(gpu.temporary_bytes)],
        [t('units.gpus.free'), formatBytes(gpu.free_bytes)], [t('units.gpus.programs'), gpu.job_count],
        [t('units.gpus.refused'), gpu.refused_count], [t('units.changed'), <Time key="t" at={gpu.reported_at} />],
      ]} />
      <DataTable isPlain name="shared-gpu-programs" label={`${t('units.gpus.programs')}: ${gpu.gpu}`} columns={useGpuProgramColumns()} rows={gpu.jobs}
        rowKey={(job) => `${job.job}/${job.process}`} empty={<EmptyState title={t('units.gpus.none')} />} />
    </>
  )
}
