import { Link } from '../../../app/router/link'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import type { ProbeTaskDocument } from '../../../queries/probe_tasks'
import { DataTable } from '../../../ui/data_table'
import { formatShare, nothing } from '../../../ui/format'
import { Section } from '../../../ui/page'
import { formatSize } from '../../../ui/rates'
import { FlowView } from './flow_view'

/** What a task runs, and which operator feeds which. */
export function TaskOperators({ document }: { document: ProbeTaskDocument }) {
  const t = useText()
  const items = document.operators.map((use, i) => ({ ...use, key: use.label ?? `P${i + 1}` }))
  return (
    <>
      <Section title={t('tasks.operators')}>
        <DataTable isPlain name="task-operators" label={t('tasks.operators')} rows={items} rowKey={(use) => use.key} columns={[
          { id: 'label', title: t('tasks.label'), cell: (use) => use.key, csv: (use) => use.key },
          { id: 'operator', title: t('measure.operator'), cell: (use) => <Link href={`${pathTo('/operators/:id', { id: use.id })}${use.version ? `?version=${use.version}` : ''}`}>{use.id}{use.version ? `@${use.version}` : ''}</Link>,
            csv: (use) => `${use.id}${use.version ? `@${use.version}` : ''}` },
          { id: 'size', title: t('measure.size'), cell: (use) => <code>{formatSize(use.parameters ?? {})}</code>, csv: (use) => formatSize(use.parameters ?? {}) },
          { id: 'count', title: t('measure.count'), isNumber: true, cell: (use) => use.count, csv: (use) => use.count },
          { id: 'share', title: t('tasks.share'), isNumber: true, cell: (use) => formatShare(use.share), csv: (use) => use.share },
          { id: 'inputs', title: t('tasks.inputs'), cell: (use) => (use.inputs?.length ? use.inputs.join(', ') : t('tasks.inputs.own')), csv: (use) => use.inputs?.join(' ') },
          { id: 'remainder', title: t('tasks.remainder'), cell: (use) => (use.remainder ? t(`tasks.remainder.${use.remainder}`) : nothing), csv: (use) => use.remainder },
        ]} />
      </Section>
      {items.some((use) => use.inputs?.length) ? (
        <Section title={t('tasks.flow')}>
          <FlowView items={items.map((use) => ({ label: use.key, inputs: use.inputs ?? [], text: `${use.id} × ${use.count}` }))} />
        </Section>
      ) : null}
    </>
  )
}
