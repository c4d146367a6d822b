import { Modal } from '@mantine/core'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import type { JobType } from '../../queries/job_types'
import { type Column, DataTable } from '../../ui/data_table'
import { formatShare, nothing } from '../../ui/format'
import { LoadBar } from '../../ui/load_bar'
import { Facts, Section } from '../../ui/page'
import { formatSize } from '../../ui/rates'
import { Time } from '../../ui/zone'
import { similarityText, type OwnLoop, readLoops } from '../jobs/job/own_loops'
import { type MixPart, partsOf } from './mix'

type Use = JobType['operators'][number]

/** What jobs of a type execute, as far as it was learned: the mix of the work, and the operators of a whole job. */
export function JobTypeDialog({ type, onClose }: { type: JobType; onClose: () => void }) {
  const t = useText()
  const mix: Column<MixPart>[] = [
    { id: 'part', title: t('jobtypes.part'), cell: (part) => <code>{part.name}</code>, csv: (part) => part.name },
    { id: 'share', title: t('jobtypes.share'), cell: (part) => <LoadBar share={part.share}>{formatShare(part.share)}</LoadBar>, csv: (part) => part.share },
  ]
  const operators: Column<Use>[] = [
    { id: 'operator', title: t('measure.operator'), cell: (use) => <Link href={pathTo('/operators/:id', { id: use.id })}>{use.id}</Link>, csv: (use) => use.id },
    { id: 'size', title: t('measure.size'), cell: (use) => <code>{formatSize(use.parameters ?? {})}</code>, csv: (use) => formatSize(use.parameters ?? {}) },
    { id: 'count', title: t('measure.count'), isNumber: true, cell: (use) => use.count ?? 1, csv: (use) => use.count ?? 1 },
    { id: 'share', title: t('jobs.operators.share'), isNumber: true, cell: (use) => formatShare(use.share), csv: (use) => use.share },
  ]
  const loopColumns: Column<OwnLoop>[] = [
    { id: 'place', title: t('jobs.operators.loops.place'), cell: (loop) => <code>{loop.place}</code>, csv: (loop) => loop.place },
    { id: 'share', title: t('jobs.operators.share'), isNumber: true, cell: (loop) => formatShare(loop.share), csv: (loop) => loop.share },
    { id: 'like', title: t('jobs.operators.loops.like'), cell: (loop) => similarityText(loop, t), csv: (loop) => loop.operator },
  ]
  const loops = readLoops(type.own_loops)
  return (
    <Modal opened onClose={onClose} size="xl" title={type.name} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <Facts items={[
        [t('jobtypes.origin'), t(`jobtypes.origin.${type.origin}`)],
        [t('jobtypes.profiled'), t(type.profiled ? 'ui.yes' : 'ui.no')],
        [t('jobtypes.from'), <Link key="j" href={pathTo('/jobs/:id', { id: type.learned_from })}><code>{type.learned_from}</code></Link>],
        [t('jobtypes.at'), <Time key="t" at={type.learned_at} />],
        [t('jobtypes.task'), type.probe_task_id ? <Link key="p" href={pathTo('/probe-tasks/:id', { id: type.probe_task_id })}><code>{type.probe_task_id}</code></Link> : null],
        ...(['unlisted', 'unprobed'] as const).flatMap((name) => {
          const left = type[name]
          return left && left.count > 0 ? [[t(`jobs.operators.${name}`), t('jobs.operators.left_out', { n: left.count })] as const] : []
        }),
      ]} />
      <Section title={t('jobtypes.mix')}>
        <DataTable isPlain name="job-type-mix" label={t('jobtypes.mix')} columns={mix} rows={partsOf(type.mix)} rowKey={(part) => part.name} empty={<p className="dim">{nothing}</p>} />
      </Section>
      <Section title={t('jobtypes.operators')}>
        <DataTable isPlain name="job-type-operators" label={t('jobtypes.operators')} columns={operators} rows={type.operators} empty={<p className="dim">{nothing}</p>}
          rowKey={(use) => `${use.id} ${formatSize(use.parameters ?? {})} ${use.label ?? ''}`} />
      </Section>
      {loops.length > 0 ? (
        <Section title={t('jobs.operators.loops')}>
          <DataTable isPlain name="job-type-own-loops" label={t('jobs.operators.loops')} columns={loopColumns} rows={loops}
            rowKey={(loop) => `${loop.place} ${String(loop.share)} ${loop.operator ?? ''}`} />
        </Section>
      ) : null}
    </Modal>
  )
}
