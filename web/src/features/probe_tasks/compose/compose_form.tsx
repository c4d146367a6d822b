import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../../app/router/link'
import { navigate } from '../../../app/router/location'
import { pathTo } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import { useOperators } from '../../../queries/operators'
import { type ProbeTaskOrder, useCreateTask } from '../../../queries/probe_tasks'
import { formatShare } from '../../../ui/format'
import { useOrderKey } from '../../../ui/forms/order_key'
import { Section } from '../../../ui/page'
import { ErrorState } from '../../../ui/states'
import measuring from '../../measuring/measuring.module.css'
import { FlowView } from '../task/flow_view'
import { type ComposeDraft, type ComposeLine, countOf, toTaskOrder } from './compose_draft'
import { ComposeLines } from './compose_lines'

/** Picks operators, says how they feed each other, and makes the draft. */
export function ComposeForm({ job, start, hasOperators }: { job: string; start: { name: string; lines: ComposeLine[] }; hasOperators: boolean }) {
  const t = useText()
  const library = useOperators()
  const create = useCreateTask()
  const keyOf = useOrderKey()
  const [draft, setDraft] = useState<ComposeDraft>({ name: start.name, jobType: '', ratio: '1000', limitS: '10', repeats: '7', lines: start.lines })
  const [isTried, setTried] = useState(false)
  const { order, wrong } = toTaskOrder(draft, job)
  const set = (change: Partial<ComposeDraft>) => setDraft({ ...draft, ...change })
  const picked = draft.lines.filter((line) => line.isPicked)
  const ratio = Number(draft.ratio) > 0 ? Number(draft.ratio) : 1
  const made = create.data ?? []

  function make(what: ProbeTaskOrder) {
    // Making the same once more, after it was made, is another order; asking again because the answer was lost is not.
    create.mutate({ order: what, key: keyOf({ what, after: made[0]?.id }) }, {
      onSuccess: (tasks) => {
        const [only] = tasks
        if (only && tasks.length === 1) navigate(pathTo('/probe-tasks/:id', { id: only.id }))
      },
    })
  }
  return (
    <>
      <form onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (order) make(order)
      }}>
        <Section title={t('tasks.operators')} side={<span className="dim">{t('compose.picked')}: {formatShare(picked.reduce((sum, line) => sum + (line.share ?? 0), 0))}</span>}>
          <ComposeLines lines={draft.lines} ratio={ratio} onChange={(lines) => set({ lines })} />
          <NativeSelect mt="sm" w={240} label={t('compose.add')} value="" onChange={(e) => {
            const operator = library.data?.find((one) => one.id === e.currentTarget.value)
            if (!operator) return
            set({ lines: [...draft.lines, {
              id: operator.id, label: `P${draft.lines.length + 1}`, jobCount: null, share: null, isPicked: true, count: '1', inputs: [],
              parameters: Object.fromEntries(operator.parameters.map((p) => [p.name, String(p.default)])) }] })
          }} data={[{ value: '', label: t('runs.operator.choose') }, ...(library.data ?? []).filter((one) => !one.withdrawn_at).map((one) => one.id)]} />
        </Section>
        {picked.some((line) => line.inputs.length > 0) ? (
          <Section title={t('tasks.flow')}>
            <FlowView items={picked.map((line) => ({ label: line.label, inputs: line.inputs, text: `${line.id} × ${countOf(line, ratio) ?? '?'}` }))} />
          </Section>
        ) : null}
        <Section title={t('compose.rules')}>
          <div className={measuring.form}>
            <TextInput label={t('compose.name')} value={draft.name} onChange={(e) => set({ name: e.currentTarget.value })} />
            <TextInput label={t('compose.job_type')} placeholder={t('compose.job_type.hint')} value={draft.jobType} onChange={(e) => set({ jobType: e.currentTarget.value })} />
            <TextInput label={t('compose.ratio')} title={t('compose.ratio.hint')} inputMode="numeric" value={draft.ratio} onChange={(e) => set({ ratio: e.currentTarget.value })} />
            <TextInput label={t('compose.limit')} inputMode="decimal" value={draft.limitS} onChange={(e) => set({ limitS: e.currentTarget.value })} />
            <TextInput label={t('compose.repeats')} inputMode="numeric" value={draft.repeats} onChange={(e) => set({ repeats: e.currentTarget.value })} />
          </div>
          {isTried && wrong ? <p role="alert" className={measuring.bad}>{t(wrong)}</p> : null}
          {create.error ? <div style={{ marginTop: 10 }}><ErrorState error={create.error} /></div> : null}
          <Button type="submit" mt="sm" variant="filled" loading={create.isPending}>{t('compose.make')}</Button>
        </Section>
      </form>
      {hasOperators ? (
        <Section title={t('compose.whole')}>
          <div className={measuring.inline}>
            <Button onClick={() => make({ from_job: job, form: 'one_task' })}>{t('compose.whole.one')}</Button>
            <Button onClick={() => make({ from_job: job, form: 'several_tasks' })}>{t('compose.whole.several')}</Button>
          </div>
        </Section>
      ) : null}
      {made.length > 1 ? (
        <Section title={t('compose.made', { n: made.length })}>
          <ul>{made.map((task) => <li key={task.id}><Link href={pathTo('/probe-tasks/:id', { id: task.id })}>{task.name}</Link></li>)}</ul>
        </Section>
      ) : null}
    </>
  )
}
