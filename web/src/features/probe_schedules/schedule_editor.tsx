import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { type ProbeSchedule, useChangeSchedule, useCreateSchedule } from '../../queries/probe_schedules'
import { useOrderKey } from '../../ui/forms/order_key'
import { ErrorState } from '../../ui/states'
import { emptyDraft, toDraft, toOrder } from '../probe_runs/order/order_draft'
import { OrderForm } from '../probe_runs/order/order_form'
import { looksLikeCron } from './cron'

/** A schedule's name, time and order; without one, a new schedule. */
export function ScheduleEditor({ schedule, onClose }: { schedule: ProbeSchedule | null; onClose: () => void }) {
  const t = useText()
  const [name, setName] = useState(schedule?.name ?? '')
  const [cron, setCron] = useState(schedule?.cron ?? '')
  const [draft, setDraft] = useState(schedule ? toDraft(schedule.order) : emptyDraft)
  const [isTried, setTried] = useState(false)
  const keyOf = useOrderKey()
  const create = useCreateSchedule()
  const change = useChangeSchedule()
  const { order, wrong } = toOrder(draft)
  const hasName = name.trim() !== ''
  const hasTime = looksLikeCron(cron)
  const error = create.error ?? change.error

  function submit() {
    setTried(true)
    if (!order || !hasName || !hasTime) return
    const values = { name: name.trim(), cron: cron.trim(), order }
    if (schedule) change.mutate({ schedule, change: values }, { onSuccess: onClose })
    else create.mutate({ order: values, key: keyOf(values) }, { onSuccess: onClose })
  }
  return (
    <Modal opened onClose={onClose} size="xl" closeButtonProps={{ 'aria-label': t('ui.close') }}
      title={schedule ? t('schedules.change', { name: schedule.name }) : t('schedules.add')}>
      <form onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}>
        <TextInput label={t('schedules.name')} value={name} maw={320} mb="sm" onChange={(e) => setName(e.currentTarget.value)}
          error={isTried && !hasName ? t('schedules.wrong.name') : ''} />
        <TextInput label={t('schedules.when')} description={t('schedules.when.hint')} placeholder="30 2 * * mon-fri" value={cron} mb="sm"
          onChange={(e) => setCron(e.currentTarget.value)} error={isTried && !hasTime ? t('schedules.wrong.cron') : ''} />
        <OrderForm draft={draft} wrong={isTried ? wrong : {}} onChange={setDraft} />
        {error ? <ErrorState error={error} /> : null}
        <Group mt="md" gap="xs" justify="flex-end">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" variant="filled" loading={create.isPending || change.isPending}>{t('measure.save')}</Button>
        </Group>
      </form>
    </Modal>
  )
}
