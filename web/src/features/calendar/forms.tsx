import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { usePlanMaintenance, useReserve } from '../../queries/calendar'
import { useCenters } from '../../queries/centers'
import { useUnitTypes } from '../../queries/unit_types'
import { cutOption } from '../../ui/cut_list'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { FormDialog } from '../../ui/forms/form_dialog'
import { MomentInput, toIso } from '../../ui/forms/moment_input'
import { useOrderKey } from '../../ui/forms/order_key'
import { useZone } from '../../ui/zone'
import { namesWith } from '../centers/center_options'
import { choices } from '../unit_types/filters'

/** The times of either form, with what is wrong about them. */
function useTimes() {
  const t = useText()
  const { zone } = useZone()
  const [starts, setStarts] = useState('')
  const [ends, setEnds] = useState('')
  const startsAt = toIso(starts, zone)
  const endsAt = toIso(ends, zone)
  const isOrdered = endsAt !== null && Date.parse(endsAt) > (startsAt ? Date.parse(startsAt) : Date.now())
  return {
    startsAt, endsAt, isGood: (starts === '' || startsAt !== null) && isOrdered,
    inputs: (errors: Record<string, string>) => (
      <>
        <MomentInput label={t('calendar.starts')} hint={t('calendar.starts.hint')} value={starts} onChange={setStarts} error={errors.starts_at} />
        <MomentInput label={t('calendar.ends')} required value={ends} onChange={setEnds}
          error={errors.ends_at ?? (endsAt !== null && !isOrdered ? t('calendar.order.wrong') : undefined)} />
      </>
    ),
  }
}

/** Center and unit type, out of what is offered now. */
function usePlace(center: string, canBeAll: boolean) {
  const t = useText()
  const all = useCenters()
  const [chosen, setChosen] = useState({ center, unit: '' })
  const centers = namesWith((all.data ?? []).filter((one) => one.unit_type_count > 0), chosen.center)
  const place = chosen.center || (centers[0] ?? '')
  const units = useUnitTypes(place, place !== '')
  const names = choices((units.data ?? []).filter((unit) => unit.active).map((unit) => unit.name))
  const unit = chosen.unit || (canBeAll ? '' : names[0] ?? '')
  return {
    center: place, unit,
    inputs: (errors: Record<string, string>) => (
      <>
        <NativeSelect label={t('calendar.center')} data-autofocus={canBeAll || undefined} value={place} data={[...centers, ...cutOption(t, all)]} error={errors.center} onChange={(e) => setChosen({ center: e.currentTarget.value, unit: '' })} />
        <NativeSelect label={t('calendar.unit')} value={unit} error={errors.unit_type} onChange={(e) => setChosen({ center: place, unit: e.currentTarget.value })}
          data={[...(canBeAll ? [{ value: '', label: t('calendar.unit.all') }] : []), ...names.map((name) => ({ value: name, label: name })), ...cutOption(t, units)]} />
      </>
    ),
  }
}

export function ReserveForm({ center, project, onClose }: { center: string; project: string; onClose: () => void }) {
  const t = useText()
  const reserve = useReserve()
  const times = useTimes()
  const place = usePlace(center, false)
  const keyOf = useOrderKey()
  const [name, setName] = useState(project || 'default')
  const [count, setCount] = useState('1')
  const errors = useFieldErrors(reserve.error)
  return (
    <FormDialog title={t('calendar.reserve.title')} action={t('calendar.reserve.do')} error={reserve.error} busy={reserve.isPending} onClose={onClose}
      canSubmit={times.isGood && name.trim() !== '' && /^[1-9]\d*$/.test(count) && place.unit !== ''}
      onSubmit={() => {
        if (!times.endsAt) return
        const order = {
          project: name.trim(), center: place.center, unit_type: place.unit, unit_count: Number(count), ends_at: times.endsAt,
          ...(times.startsAt ? { starts_at: times.startsAt } : {}),
        }
        reserve.mutate({ key: keyOf(order), order }, { onSuccess: onClose })
      }}>
      <TextInput label={t('calendar.reserve.project')} required value={name} error={errors.project} data-autofocus autoComplete="off" onChange={(e) => setName(e.currentTarget.value)} />
      {place.inputs(errors)}
      <TextInput label={t('calendar.count')} required inputMode="numeric" value={count} error={errors.unit_count} onChange={(e) => setCount(e.currentTarget.value)} />
      {times.inputs(errors)}
      <p className="dim">{t('calendar.reserve.limits')}</p>
    </FormDialog>
  )
}

export function MaintenanceForm({ center, onClose }: { center: string; onClose: () => void }) {
  const t = useText()
  const plan = usePlanMaintenance()
  const times = useTimes()
  const place = usePlace(center, true)
  const keyOf = useOrderKey()
  const [reason, setReason] = useState('')
  const [cancels, setCancels] = useState(false)
  const errors = useFieldErrors(plan.error)
  return (
    <FormDialog title={t('calendar.plan.title')} action={t('calendar.plan.do')} error={plan.error} busy={plan.isPending} onClose={onClose}
      canSubmit={times.isGood && place.center !== ''}
      onSubmit={() => {
        if (!times.endsAt) return
        const order = {
          center: place.center, ends_at: times.endsAt, reason: reason.trim(), cancel_reservations: cancels,
          ...(place.unit ? { unit_type: place.unit } : {}), ...(times.startsAt ? { starts_at: times.startsAt } : {}),
        }
        plan.mutate({ key: keyOf(order), order }, { onSuccess: onClose })
      }}>
      {place.inputs(errors)}
      {times.inputs(errors)}
      <TextInput label={t('calendar.reason')} description={t('calendar.reason.hint')} maxLength={500} value={reason} error={errors.reason} onChange={(e) => setReason(e.currentTarget.value)} />
      <Checkbox label={t('calendar.plan.cancels')} checked={cancels} onChange={(e) => setCancels(e.currentTarget.checked)} />
      <p className="dim">{t('calendar.plan.limits')}</p>
    </FormDialog>
  )
}
