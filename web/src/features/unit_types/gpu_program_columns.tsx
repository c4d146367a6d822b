import { Link } from '../../app/router/link'
import { useText } from '../../i18n/language'
import type { SharedGpuJob } from '../../queries/shared_gpus'
import type { Column } from '../../ui/data_table'
import { formatBytes, formatDuration, formatShare } from '../../ui/format'

/** What a program has of the memory of a GPU that it shares, what of it stayed there, what taking turns has cost it, and what it keeps of its pace beside who has the turn at the same time. */
export function useGpuProgramColumns(): Column<SharedGpuJob>[] {
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
    { id: 'pace', title: t('units.gpus.pace'), isNumber: true, cell: (j) => formatShare(j.kept_pace, 0), csv: (j) => j.kept_pace },
  ]
}
