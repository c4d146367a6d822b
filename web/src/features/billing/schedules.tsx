import { Button, Menu } from '@mantine/core'
import { useState } from 'react'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type ExportSchedule, useEnableExportSchedule, useExportSchedules, useRemoveExportSchedule, useRunExportSchedule } from '../../queries/export_schedules'
import { ConfirmByTyping } from '../../ui/confirm_by_typing'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { ServerText } from '../../ui/server_text'
import { EmptyState, ErrorState, Ready } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import styles from './billing.module.css'
import { ScheduleForm } from './schedule_form'

/** Exports that the server writes by the clock. */
export function Schedules() {
  const t = useText()
  const { may } = useSession()
  const query = useExportSchedules()
  const run = useRunExportSchedule()
  const enable = useEnableExportSchedule()
  const remove = useRemoveExportSchedule()
  const [editing, setEditing] = useState<ExportSchedule | 'new' | null>(null)
  const [removing, setRemoving] = useState<ExportSchedule | null>(null)
  const mayChange = may('manage_billing')
  const failed = run.error ?? enable.error
  const add = mayChange ? <Button variant="filled" onClick={() => setEditing('new')}>{t('billing.schedules.add')}</Button> : undefined
  const columns: Column<ExportSchedule>[] = [
    ...useColumns(),
    ...(mayChange ? [{ id: 'actions', title: t('form.actions'), cell: (s: ExportSchedule) => (
      <Menu position="bottom-end" withInitialFocusPlaceholder={false} transitionProps={{ duration: 0 }}>
        <Menu.Target><Button size="compact-xs" aria-label={`${t('billing.schedules.actions')} ${s.name}`}>{t('billing.schedules.actions')}</Button></Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={!s.enabled} onClick={() => run.mutate(s.id)}>{t('billing.schedules.run')}</Menu.Item>
          <Menu.Item onClick={() => setEditing(s)}>{t('billing.schedules.change')}</Menu.Item>
          <Menu.Item onClick={() => enable.mutate({ schedule: s, enabled: !s.enabled })}>{t(s.enabled ? 'billing.schedules.off' : 'billing.schedules.on')}</Menu.Item>
          <Menu.Item onClick={() => {
            remove.reset()
            setRemoving(s)
          }}>{t('billing.schedules.remove')}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    ) }] : []),
  ]
  return (
    <Ready query={query}>
      <p className="dim">{t('billing.schedules.hint')}</p>
      {failed ? <ErrorState error={failed} /> : null}
      <DataTable name="export-schedules" label={t('billing.tab.schedules')} columns={columns} rows={query.data ?? []} rowKey={(s) => s.id} tools={add}
        empty={<EmptyState title={t('billing.schedules.none')}>{t('billing.schedules.hint')}</EmptyState>} />
      {editing ? <ScheduleForm schedule={editing === 'new' ? null : editing} onClose={() => setEditing(null)} /> : null}
      {removing ? (
        <ConfirmByTyping opened title={t('billing.schedules.change.of', { name: removing.name })} target={removing.name} action={t('billing.schedules.remove.do')}
          error={remove.error} busy={remove.isPending} onClose={() => setRemoving(null)} onConfirm={() => remove.mutate(removing, { onSuccess: () => setRemoving(null) })}>
          <p>{t('billing.schedules.remove.what')}</p>
        </ConfirmByTyping>
      ) : null}
    </Ready>
  )
}

function useColumns(): Column<ExportSchedule>[] {
  const t = useText()
  const only = (s: ExportSchedule) => Object.values(s.parameters).join(', ')
  return [
    { id: 'name', title: t('billing.schedules.name'), cell: (s) => s.name, csv: (s) => s.name },
    { id: 'state', title: t('billing.schedules.state'), cell: (s) => <ScheduleState schedule={s} />, csv: (s) => (s.enabled ? s.failures : 'off') },
    { id: 'cron', title: t('billing.schedules.cron'), cell: (s) => <code>{s.cron}</code>, csv: (s) => s.cron },
    { id: 'format', title: t('billing.export.format'), cell: (s) => t(`billing.export.short.${s.format}`), csv: (s) => s.format },
    { id: 'months', title: t('billing.schedules.months.short'), cell: (s) => t(`billing.schedules.months.${s.months}`), csv: (s) => s.months },
    { id: 'only', title: t('billing.schedules.parameters'), cell: (s) => only(s) || nothing, csv: only },
    { id: 'destination', title: t('billing.schedules.destination'), isHidden: true, cell: (s) => <span className={styles.wrap}>{s.destination}</span>, csv: (s) => s.destination },
    { id: 'next_run_at', title: t('billing.schedules.next'), cell: (s) => <Time at={s.next_run_at} />, csv: (s) => s.next_run_at },
    { id: 'last_run_at', title: t('billing.schedules.last'), cell: (s) => <Time at={s.last_run_at} />, csv: (s) => s.last_run_at },
    { id: 'outcome', title: t('billing.schedules.outcome'), cell: (s) => <Outcome schedule={s} />, csv: (s) => s.last_error ?? s.last_file },
    { id: 'id', title: t('ui.id'), isHidden: true, cell: (s) => <code>{s.id}</code>, csv: (s) => s.id },
  ]
}

function ScheduleState({ schedule }: { schedule: ExportSchedule }) {
  const t = useText()
  if (!schedule.enabled) return <StatePill tone="idle">{t('billing.schedules.state.off')}</StatePill>
  if (schedule.last_error) return <StatePill tone="bad">{t('billing.schedules.state.failing', { n: schedule.failures })}</StatePill>
  return schedule.last_run_at ? <StatePill tone="good">{t('billing.schedules.state.good')}</StatePill> : <StatePill tone="idle">{t('billing.schedules.state.new')}</StatePill>
}

/** Why the last run failed, or the file that it wrote: its name, as folders are long and alike. */
function Outcome({ schedule }: { schedule: ExportSchedule }) {
  if (schedule.last_error) return <div className={styles.outcome}><ServerText>{schedule.last_error}</ServerText></div>
  if (!schedule.last_file) return <>{nothing}</>
  return <div className={styles.outcome} title={schedule.last_file}>{schedule.last_file.split('/').slice(-2).join('/')}</div>
}
