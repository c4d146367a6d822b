import { NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { type SubUnitKind, type SubUnitOrder, useAskForSubUnits } from '../../queries/sub_units'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { FormDialog } from '../../ui/forms/form_dialog'
import { useOrderKey } from '../../ui/forms/order_key'
import { loadOf } from './holdings'

const actions: readonly SubUnitOrder['action'][] = ['release', 'gain', 'balance']

/** Asks for a center: give up so many, gain so many, or as many as its two loads say. */
export function AskDialog({ kinds, onClose }: { kinds: readonly SubUnitKind[]; onClose: () => void }) {
  const t = useText()
  const ask = useAskForSubUnits()
  const keyOf = useOrderKey()
  const [kind, setKind] = useState(kinds[0]?.kind ?? '')
  const centers = (kinds.find((one) => one.kind === kind)?.centers ?? []).map((holding) => holding.center)
  const [chosen, setCenter] = useState('')
  const center = centers.includes(chosen) ? chosen : centers[0] ?? ''
  const [action, setAction] = useState<SubUnitOrder['action']>('release')
  const [count, setCount] = useState('1')
  const [transfer, setTransfer] = useState('')
  const [compute, setCompute] = useState('')
  const [reason, setReason] = useState('')
  const errors = useFieldErrors(ask.error)
  const transferLoad = loadOf(transfer)
  const computeLoad = loadOf(compute)

  function amount() {
    if (action !== 'balance') return /^[1-9]\d{0,6}$/.test(count) ? { count: Number(count) } : null
    return transferLoad && computeLoad !== null ? { transfer_load: transferLoad, compute_load: computeLoad } : null
  }
  const wanted = amount()

  return (
    <FormDialog title={t('subunits.ask')} action={t('subunits.ask.do')} error={ask.error} busy={ask.isPending} onClose={onClose}
      canSubmit={wanted !== null && center !== ''}
      onSubmit={() => {
        if (!wanted) return
        const order: SubUnitOrder = { center, kind, action, ...wanted, ...(reason.trim() ? { reason: reason.trim() } : {}) }
        ask.mutate({ key: keyOf(order), order }, { onSuccess: onClose })
      }}>
      <NativeSelect label={t('subunits.kind')} data-autofocus value={kind} error={errors.kind} data={kinds.map((one) => one.kind)} onChange={(e) => setKind(e.currentTarget.value)} />
      <NativeSelect label={t('subunits.center')} value={center} error={errors.center} data={centers} onChange={(e) => setCenter(e.currentTarget.value)} />
      <NativeSelect label={t('subunits.action')} value={action} error={errors.action}
        data={actions.map((one) => ({ value: one, label: t(`subunits.action.${one}`) }))}
        onChange={(e) => setAction(actions.find((one) => one === e.currentTarget.value) ?? 'release')} />
      {action === 'balance' ? (
        <>
          <TextInput label={t('subunits.transfer')} required inputMode="decimal" value={transfer} error={errors.transfer_load} onChange={(e) => setTransfer(e.currentTarget.value)} />
          <TextInput label={t('subunits.compute')} required inputMode="decimal" value={compute} error={errors.compute_load} onChange={(e) => setCompute(e.currentTarget.value)} />
        </>
      ) : (
        <TextInput label={t('subunits.count')} required inputMode="numeric" value={count} error={errors.count} onChange={(e) => setCount(e.currentTarget.value)} />
      )}
      <TextInput label={t('subunits.reason')} maxLength={160} value={reason} error={errors.reason} onChange={(e) => setReason(e.currentTarget.value)} />
    </FormDialog>
  )
}
