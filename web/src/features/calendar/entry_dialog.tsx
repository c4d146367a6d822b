import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { useCancelMaintenance, useCancelReservation } from '../../queries/calendar'
import { ConfirmByTyping } from '../../ui/confirm_by_typing'
import { formatDuration, formatTime, nothing, secondsBetween } from '../../ui/format'
import { Facts } from '../../ui/page'
import { Time, useZone } from '../../ui/zone'
import { type Entry, mayCancel } from './entries'
import { CalendarState } from './tables'
import { useWho } from './who'

/** One reservation or maintenance, and its end if one may. */
export function EntryDialog({ entry, isCancelling, onClose }: { entry: Entry; isCancelling: boolean; onClose: () => void }) {
  const t = useText()
  const who = useWho()
  const [cancelling, setCancelling] = useState(isCancelling)
  const { of } = entry
  if (cancelling) return <CancelEntry entry={entry} onClose={onClose} />
  return (
    <Modal opened onClose={onClose} title={t(entry.kind === 'reservation' ? 'calendar.reservations' : 'calendar.maintenance')} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <Facts items={[
        ...(entry.kind === 'reservation' ? [[t('calendar.project'), entry.of.project], [t('calendar.units'), entry.of.unit_count]] as const : [[t('calendar.reason'), entry.of.reason]] as const),
        [t('calendar.center'), of.center], [t('calendar.unit'), of.unit_type ?? t('calendar.unit.all')],
        [t('calendar.starts'), <Time key="s" at={of.starts_at} />], [t('calendar.ends'), <Time key="e" at={of.ends_at} />],
        [t('calendar.length'), formatDuration(secondsBetween(of.starts_at, of.ends_at))], [t('calendar.state'), <CalendarState key="st" state={of.state} />],
        [t('calendar.created'), <Time key="c" at={of.created_at} />], [t('calendar.by'), <code key="b">{of.created_by}</code>], [t('ui.id'), <code key="i">{of.id}</code>],
      ]} />
      <Group mt="md" gap="xs" justify="flex-end">
        {mayCancel(entry, who) ? <Button onClick={() => setCancelling(true)}>{t('calendar.cancel')}</Button> : null}
        <Button data-autofocus onClick={onClose}>{t('ui.close')}</Button>
      </Group>
    </Modal>
  )
}

function CancelEntry({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const t = useText()
  const { zone } = useZone()
  const reservation = useCancelReservation()
  const maintenance = useCancelMaintenance()
  const cancel = entry.kind === 'reservation' ? reservation : maintenance
  const { of } = entry
  const values = {
    place: of.unit_type ? `${of.center} / ${of.unit_type}` : of.center, from: formatTime(of.starts_at, zone), until: formatTime(of.ends_at, zone),
    ...(entry.kind === 'reservation' ? { project: entry.of.project, n: entry.of.unit_count } : { reason: entry.of.reason || nothing }),
  }
  return (
    <ConfirmByTyping opened title={t(`calendar.cancel.${entry.kind}`)} action={t(`calendar.cancel.${entry.kind}.do`)}
      target={entry.kind === 'reservation' ? entry.of.project : of.center} error={cancel.error} busy={cancel.isPending} onClose={onClose}
      onConfirm={() => cancel.mutate(of.id, { onSuccess: onClose })}>
      <p>{t(`calendar.cancel.${entry.kind}.what`, values)}</p>
    </ConfirmByTyping>
  )
}
