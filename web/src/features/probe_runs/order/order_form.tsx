import { Checkbox, NativeSelect, Radio, TextInput } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import { useText } from '../../../i18n/language'
import { useOperators } from '../../../queries/operators'
import { useProbeTasks } from '../../../queries/probe_tasks'
import { cutOption } from '../../../ui/cut_list'
import type { OrderDraft, Wrong } from './order_draft'
import { OperatorLines } from './operator_lines'
import styles from './order.module.css'
import { PlaceChoice } from './place_choice'

const kinds = ['operators', 'task', 'job_type', 'full_benchmark'] as const
const countings = ['one', 'several', 'scaling', 'center'] as const

/** What to measure, where, and on how many units: what a single order and a schedule both say. */
export function OrderForm({ draft, wrong, onChange }: { draft: OrderDraft; wrong: Wrong; onChange: (draft: OrderDraft) => void }) {
  const t = useText()
  const operators = useOperators()
  const tasks = useProbeTasks({ state: '', job_type: '' }, 200)
  const set = (change: Partial<OrderDraft>) => onChange({ ...draft, ...change })
  const shown = (tasks.items ?? []).filter((task) => task.state !== 'retired' && (draft.force || task.state === 'released' || task.id === draft.task))
  const task = tasks.items?.find((one) => one.id === draft.task)
  const typeTask = tasks.items?.find((one) => one.state === 'released' && one.job_type === draft.jobType.trim())
  const chosen = draft.what === 'operators' ? draft.operators.map((line) => line.id)
    : draft.what === 'task' ? (task?.document.operators ?? []).map((use) => use.id)
      : draft.what === 'job_type' ? (typeTask?.document.operators ?? []).map((use) => use.id) : []
  const say = (key: Wrong[keyof Wrong]) => (key ? t(key) : '')
  return (
    <div>
      <Step title={t('runs.what')}>
        <Choice label={t('runs.what')} value={draft.what} options={kinds.map((kind) => [kind, t(`runs.what.${kind}`)])} onChange={(what) => set({ what })} />
        {draft.what === 'operators' ? (
          <OperatorLines library={operators.data ?? []} lines={draft.operators} error={say(wrong.operators)} onChange={(lines) => set({ operators: lines })} />) : null}
        {draft.what === 'task' ? (
          <>
            <NativeSelect label={t('runs.task')} value={draft.task} maw={420} error={say(wrong.what)} onChange={(e) => set({ task: e.currentTarget.value })}
              data={[{ value: '', label: t('runs.task.choose') }, ...shown.map((one) => ({ value: one.id, label: `${one.name} (${t(`tasks.state.${one.state}`)})` })),
                ...cutOption(t, { data: tasks.items, isCut: tasks.hasNextPage })]} />
            <Checkbox label={t('runs.force')} checked={draft.force} onChange={(e) => set({ force: e.currentTarget.checked })} />
          </>) : null}
        {draft.what === 'job_type' ? (
          <TextInput label={t('runs.job_type')} maw={420} value={draft.jobType} error={say(wrong.what)} onChange={(e) => set({ jobType: e.currentTarget.value })} />) : null}
      </Step>
      <Step title={t('runs.where')}>
        <PlaceChoice draft={draft} operators={chosen} error={say(wrong.unitTypes)} onChange={set} />
      </Step>
      <Step title={t('runs.count')}>
        <Choice label={t('runs.count')} value={draft.counting} options={countings.map((one) => [one, t(`runs.count.${one}`)])} onChange={(counting) => set({ counting })} />
        {draft.counting === 'one' ? (
          <TextInput label={t('measure.units')} w={120} inputMode="numeric" value={draft.count} error={say(wrong.count)} onChange={(e) => set({ count: e.currentTarget.value })} />) : null}
        {draft.counting === 'several' ? (
          <TextInput label={t('runs.counts')} w={240} value={draft.counts} error={say(wrong.counts)} onChange={(e) => set({ counts: e.currentTarget.value })} />) : null}
        <Checkbox label={t('runs.copies')} checked={draft.copies} onChange={(e) => set({ copies: e.currentTarget.checked })} />
      </Step>
    </div>
  )
}

function Step({ title, children }: { title: string; children: ReactNode }) {
  return <section className={styles.step}><h2>{title}</h2><div className={styles.body}>{children}</div></section>
}

/** One of a few, all of them seen at once. */
export function Choice<Value extends string>({ label, value, options, onChange }: {
  label: string; value: Value; options: readonly (readonly [Value, string])[]; onChange: (value: Value) => void
}) {
  const name = useId()
  return (
    <div role="radiogroup" aria-label={label} style={{ display: 'flex', flexDirection: 'column', gap: 8 }}>
      {options.map(([one, text]) => (
        <Radio key={one} size="xs" name={name} label={text} value={one} checked={value === one} onChange={() => onChange(one)} />
      ))}
    </div>
  )
}
