import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../../app/router/link'
import { type PathParams, pathTo } from '../../../app/router/match'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { type ProbeTask, type TaskAct, useProbeTask, useTaskAct, useTaskComparison } from '../../../queries/probe_tasks'
import { ConfirmByTyping } from '../../../ui/confirm_by_typing'
import { formatDuration } from '../../../ui/format'
import { Facts, Page, Section } from '../../../ui/page'
import { ServerText } from '../../../ui/server_text'
import { ErrorState, Ready } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import measuring from '../../measuring/measuring.module.css'
import { Comparison } from '../../probe_runs/report/comparison'
import { TaskStatePill } from '../task_state'
import { TaskOperators } from './task_operators'

const testable: readonly ProbeTask['state'][] = ['draft', 'tested', 'refused']

export function TaskPage({ params }: { params: PathParams }) {
  const t = useText()
  const { may } = useSession()
  const query = useProbeTask(params.id ?? '')
  const act = useTaskAct()
  const [isRetiring, setRetiring] = useState(false)
  const task = query.data
  const run = (what: TaskAct) => task && act.mutate({ task, act: what }, { onSuccess: () => setRetiring(false) })
  const can = task !== undefined && may('manage_metering')
  return (
    <Page title={task?.name ?? t('tasks.task')} mark={task ? <TaskStatePill state={task.state} /> : undefined} actions={
      <>
        {task ? <Link style={{ alignSelf: 'center' }} href={`/probe-runs?probe_task=${task.id}`}>{t('tasks.runs')}</Link> : null}
        {can && task.state === 'released' ? <Link style={{ alignSelf: 'center' }} href={`/measure?task=${task.id}`}>{t('tasks.measure')}</Link> : null}
        {can && testable.includes(task.state) ? <Button loading={act.isPending} onClick={() => run('test')}>{t('tasks.test')}</Button> : null}
        {can && task.state === 'tested' ? <Button variant="filled" loading={act.isPending} onClick={() => run('release')}>{t('tasks.release')}</Button> : null}
        {can && task.state !== 'retired' && task.state !== 'testing' ? <Button onClick={() => setRetiring(true)}>{t('tasks.retire')}</Button> : null}
      </>
    }>
      <Ready query={query}>
        {task ? (
          <>
            {act.error && !isRetiring ? <div style={{ marginBottom: 12 }}><ErrorState error={act.error} /></div> : null}
            {task.state === 'testing' ? <p role="status">{t('tasks.pretest.running')}</p> : null}
            <TaskFacts task={task} />
            <TaskOperators document={task.document} />
            <TaskComparison id={task.id} />
            <ConfirmByTyping opened={isRetiring} title={t('tasks.retire.title', { name: task.name })} target={task.name} action={t('tasks.retire.do')}
              error={act.error} busy={act.isPending} onConfirm={() => run('retire')} onClose={() => {
                act.reset()
                setRetiring(false)
              }}><p>{t('tasks.retire.text')}</p></ConfirmByTyping>
          </>
        ) : null}
      </Ready>
    </Page>
  )
}

function TaskFacts({ task }: { task: ProbeTask }) {
  const t = useText()
  const limit = formatDuration(task.document.limit_s)
  return (
    <Section title={t('measure.details')}>
      {task.state_reason ? <p className={task.state === 'refused' ? measuring.bad : measuring.warn}><ServerText>{task.state_reason}</ServerText></p> : null}
      <Facts items={[
        [t('ui.id'), <code key="i">{task.id}</code>],
        [t('tasks.job_type'), task.job_type],
        [t('tasks.pretest'), task.pretest_s === null ? t('tasks.pretest.none') : t('tasks.pretest.took', { s: formatDuration(task.pretest_s), limit })],
        [t('tasks.pretest.run'), task.pretest_run_id ? <Link key="r" href={pathTo('/probe-runs/:id', { id: task.pretest_run_id })}><code>{task.pretest_run_id}</code></Link> : null],
        [t('tasks.limit'), limit],
        [t('tasks.repeats'), task.document.repeats],
        [t('tasks.state.since'), <Time key="s" at={task.state_changed_at} />],
        [t('tasks.origin'), t(`tasks.origin.${task.origin}`)],
        [t('tasks.from_job'), task.from_job ? <Link key="j" href={pathTo('/jobs/:id', { id: task.from_job })}><code>{task.from_job}</code></Link> : null],
        [t('measure.created'), <Time key="c" at={task.created_at} />],
        [t('measure.by'), <code key="b">{task.created_by}</code>],
      ]} />
    </Section>
  )
}

function TaskComparison({ id }: { id: string }) {
  const query = useTaskComparison(id)
  return <Ready query={query}><Comparison name={id} items={query.data?.comparison ?? []} /></Ready>
}
