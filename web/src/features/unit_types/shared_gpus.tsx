import { Link } from '../../app/router/link'
import { useText } from '../../i18n/language'
import { type SharedGpu, type SharedGpuJob, useSharedGpus } from '../../queries/shared_gpus'
import type { UnitType } from '../../queries/unit_types'
import { type Column, DataTable } from '../../ui/data_table'
import { formatBytes, formatDuration } from '../../ui/format'
import { Facts, Section } from '../../ui/page'
import { EmptyState } from '../../ui/states'
import { Time } from '../../ui/zone'
import { gpusOf, sharesByTurns } from './shared_by_turns'

/** The GPUs behind units that are turns on a GPU: what of their memory is taken, by whom, and what taking turns costs. */
export function SharedGpus({ unit }: { unit: UnitType }) {
  const t = useText()
  const isShared = sharesByTurns(unit)
  const query = useSharedGpus(unit.center, isShared)
  const gpus = gpusOf(unit, query.data ?? [])
  if (!isShared || gpus.length === 0) return null
  return (
    <Section title={t('units.gpus')}>
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
      <DataTable isPlain name="shared-gpu-programs" label={`${t('units.gpus.programs')}: ${gpu.gpu}`} columns={useProgramColumns()} rows={gpu.jobs}
        rowKey={(job) => `${job.job}/${job.process}`} empty={<EmptyState title={t('units.gpus.none')} />} />
    </>
  )
}

function useProgramColumns(): Column<SharedGpuJob>[] {
  const t = useText()
  return [
    { id: 'job', title: t('units.gpus.job'), cell: (j) => <Link href={`/jobs/${j.job}`}><code>{j.job}</code></Link>, csv: (j) => j.job },
    { id: 'turn', title: t('units.gpus.turn'), cell: (j) => t(j.has_turn ? 'ui.yes' : 'ui.no'), csv: (j) => j.has_turn },
    { id: 'persistent', title: t('units.gpus.persistent'), isNumber: true, csv: (j) => j.persistent.used_bytes,
      cell: (j) => `${formatBytes(j.persistent.used_bytes)} / ${formatBytes(j.persistent.room_bytes)}` },
    { id: 'temporary', title: t('units.gpus.temporary'), isNumber: true, csv: (j) => j.temporary.peak_bytes,
      cell: (j) => `${formatBytes(j.temporary.peak_bytes)} / ${formatBytes(j.temporary.room_bytes)}` },
    { id: 'switches', title: t('units.gpus.switches'), isNumber: true, cell: (j) => j.switches, csv: (j) => j.switches },
    { id: 'switching', title: t('units.gpus.switching'), isNumber: true, cell: (j) => formatDuration(j.switch_s), csv: (j) => j.switch_s },
    { id: 'moved', title: t('units.gpus.moved'), isNumber: true, cell: (j) => formatBytes(j.moved_bytes), csv: (j) => j.moved_bytes },
    { id: 'stayed', title: t('units.gpus.stayed'), isNumber: true, cell: (j) => formatBytes(j.kept_bytes), csv: (j) => j.kept_bytes },
    { id: 'refusals', title: t('units.gpus.refusals'), isNumber: true, cell: (j) => j.refusals, csv: (j) => j.refusals },
    { id: 'wait', title: t('units.gpus.wait'), isNumber: true, cell: (j) => formatDuration(j.longest_wait_s), csv: (j) => j.longest_wait_s },
  ]
}
