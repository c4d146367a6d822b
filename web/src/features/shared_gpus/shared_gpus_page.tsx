import { NativeSelect } from '@mantine/core'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { type SharedGpu, type SharedGpuJob, useAllSharedGpus } from '../../queries/shared_gpus'
import { CutMark } from '../../ui/cut_list'
import { type Column, DataTable } from '../../ui/data_table'
import { formatBytes, formatShare } from '../../ui/format'
import { LoadBar } from '../../ui/load_bar'
import { Page, Section } from '../../ui/page'
import { EmptyState, NoneFits, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'
import { useCenterOptions } from '../centers/center_options'
import measuring from '../measuring/measuring.module.css'
import { useGpuProgramColumns } from '../unit_types/gpu_program_columns'
import { filterGpus, filterNames, parseView, takenShare, views } from './gpu_filters'

/** The GPUs of the network that jobs share by turns: how full their memory is, with whose programs, and what that costs these. */
export function SharedGpusPage() {
  const t = useText()
  const [raw, change] = useFilters(filterNames)
  const view = parseView(raw.view)
  const query = useAllSharedGpus(raw.center)
  const centers = useCenterOptions({ none: t('ui.any'), chosen: raw.center })
  const columns = useGpuColumns()
  const all = query.data ?? []
  const gpus = filterGpus(all, view)
  const tools = (
    <>
      <NativeSelect label={t('units.center')} value={raw.center} onChange={(e) => change({ center: e.currentTarget.value })} data={centers} />
      <NativeSelect label={t('sharedgpus.show')} value={view} onChange={(e) => change({ view: e.currentTarget.value })}
        data={views.map((one) => ({ value: one, label: t(`sharedgpus.show.${one || 'all'}`) }))} />
    </>
  )
  return (
    <Page title={t('sharedgpus.title')}>
      <p className={measuring.note}>{t('sharedgpus.intro')}</p>
      <Ready query={query} tools={tools}>
        <CutMark list={query} name={t('sharedgpus.gpus')} />
        <DataTable name="shared-gpus" label={t('sharedgpus.gpus')} columns={columns} rows={gpus} rowKey={(gpu) => `${gpu.center}/${gpu.gpu}`} tools={tools}
          empty={all.length > 0 || raw.center
            ? <NoneFits onClear={() => change({ center: '', view: '' })} />
            : <EmptyState title={t('sharedgpus.none')} action={<Link href="/unit-types">{t('sharedgpus.none.units')}</Link>}>{t('sharedgpus.none.text')}</EmptyState>} />
        {gpus.length > 0 ? <Programs gpus={gpus} /> : null}
      </Ready>
    </Page>
  )
}

function useGpuColumns(): Column<SharedGpu>[] {
  const t = useText()
  return [
    { id: 'gpu', title: t('units.gpus.gpu'), cell: (g) => <code>{g.gpu}</code>, csv: (g) => g.gpu },
    { id: 'center', title: t('units.center'), cell: (g) => <Link href={pathTo('/centers/:center', { center: g.center })}>{g.center}</Link>, csv: (g) => g.center },
    { id: 'taken', title: t('sharedgpus.taken'), cell: (g) => <LoadBar share={takenShare(g)}>{formatShare(takenShare(g), 0)}</LoadBar>, csv: takenShare },
    { id: 'capacity_bytes', title: t('units.gpus.capacity'), isNumber: true, cell: (g) => formatBytes(g.capacity_bytes), csv: (g) => g.capacity_bytes },
    { id: 'persistent_bytes', title: t('units.gpus.persistent'), isNumber: true, cell: (g) => formatBytes(g.persistent_bytes), csv: (g) => g.persistent_bytes },
    { id: 'temporary_bytes', title: t('units.gpus.temporary'), isNumber: true, cell: (g) => formatBytes(g.temporary_bytes), csv: (g) => g.temporary_bytes },
    { id: 'free_bytes', title: t('units.gpus.free'), isNumber: true, cell: (g) => formatBytes(g.free_bytes), csv: (g) => g.free_bytes },
    { id: 'gap_bytes', title: t('sharedgpus.gap'), isNumber: true, cell: (g) => formatBytes(g.gap_bytes), csv: (g) => g.gap_bytes, isHidden: true },
    { id: 'job_count', title: t('units.gpus.programs'), isNumber: true, cell: (g) => g.job_count, csv: (g) => g.job_count },
    { id: 'refused_count', title: t('units.gpus.refused'), isNumber: true, cell: (g) => g.refused_count, csv: (g) => g.refused_count },
    { id: 'reported_at', title: t('units.changed'), cell: (g) => <Time at={g.reported_at} />, csv: (g) => g.reported_at },
  ]
}

/** A program, with the GPU that it is on. */
interface Program extends SharedGpuJob {
  gpu: string
  center: string
}

function Programs({ gpus }: { gpus: readonly SharedGpu[] }) {
  const t = useText()
  const rest: Column<Program>[] = useGpuProgramColumns()
  const columns: Column<Program>[] = [
    { id: 'gpu', title: t('units.gpus.gpu'), cell: (p) => <code>{p.gpu}</code>, csv: (p) => p.gpu },
    { id: 'center', title: t('units.center'), cell: (p) => p.center, csv: (p) => p.center },
    ...rest,
  ]
  const programs = gpus.flatMap((gpu) => gpu.jobs.map((job) => ({ ...job, gpu: gpu.gpu, center: gpu.center })))
  return (
    <Section title={t('sharedgpus.programs')}>
      <DataTable isPlain name="shared-gpu-programs" label={t('sharedgpus.programs')} columns={columns} rows={programs}
        rowKey={(p) => `${p.center}/${p.gpu}/${p.job}/${p.process}`} empty={<p className="dim">{t('sharedgpus.programs.none')}</p>} />
    </Section>
  )
}
