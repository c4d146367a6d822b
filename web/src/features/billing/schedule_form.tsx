import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { exportFormats, type ExportSchedule, type ExportScheduleOrder, useSaveExportSchedule } from '../../queries/export_schedules'
import { useFieldErrors } from '../../ui/forms/field_errors'
import { FormDialog } from '../../ui/forms/form_dialog'
import { useOrderKey } from '../../ui/forms/order_key'
import styles from './billing.module.css'
import { isApel } from './export_address'
import { levels } from './exports'

const months = ['previous', 'current', 'all'] as const

/** Adds a schedule of exports, or changes one. */
export function ScheduleForm({ schedule, onClose }: { schedule: ExportSchedule | null; onClose: () => void }) {
  const t = useText()
  const save = useSaveExportSchedule()
  const keyOf = useOrderKey()
  const [name, setName] = useState(schedule?.name ?? '')
  const [cron, setCron] = useState(schedule?.cron ?? '0 5 3 * *')
  const [format, setFormat] = useState(schedule?.format ?? 'focus')
  const [month, setMonth] = useState(schedule?.months ?? 'previous')
  const [destination, setDestination] = useState(schedule?.destination ?? 'folder')
  const [parameters, setParameters] = useState({
    project: schedule?.parameters.project ?? '', center: schedule?.parameters.center ?? '',
    version: schedule?.parameters.version ?? '1.2', level: schedule?.parameters.service_level_type ?? '',
  })
  const [isEnabled, setEnabled] = useState(schedule?.enabled ?? true)
  const errors = useFieldErrors(save.error)
  const set = (change: Partial<typeof parameters>) => setParameters({ ...parameters, ...change })
  const level = levels.find((value) => value === parameters.level)
  const order: ExportScheduleOrder = {
    name: name.trim(), cron: cron.trim(), format, destination: destination.trim(), enabled: isEnabled,
    months: format === 'ledger' ? 'all' : month, // the ledger goes as a whole
    parameters: {
      ...(parameters.project.trim() ? { project: parameters.project.trim() } : {}), ...(parameters.center.trim() ? { center: parameters.center.trim() } : {}),
      ...(format === 'focus' && parameters.version === '1.3' ? { version: '1.3' as const } : {}),
      ...(isApel(format) && level ? { service_level_type: level } : {}),
    },
  }
  return (
    <FormDialog title={schedule ? t('billing.schedules.change.of', { name: schedule.name }) : t('billing.schedules.add.title')} action={t('form.save')} size="lg"
      error={save.error} busy={save.isPending} canSubmit={order.name !== '' && order.cron !== '' && order.destination !== ''} onClose={onClose}
      onSubmit={() => save.mutate({ schedule, order, key: keyOf(order) }, { onSuccess: onClose })}>
      <TextInput label={t('billing.schedules.name')} description={t('billing.schedules.name.hint')} required data-autofocus autoComplete="off" value={name} error={errors.name} onChange={(e) => setName(e.currentTarget.value)} />
      <TextInput label={t('billing.schedules.cron')} description={t('billing.schedules.cron.hint')} required value={cron} error={errors.cron} onChange={(e) => setCron(e.currentTarget.value)} />
      <NativeSelect label={t('billing.export.format')} value={format} error={errors.format} data={exportFormats.map((value) => ({ value, label: t(`billing.export.${value}`) }))}
        onChange={(e) => setFormat(exportFormats.find((f) => f === e.currentTarget.value) ?? 'focus')} />
      <NativeSelect label={t('billing.schedules.months')} value={order.months} disabled={format === 'ledger'} error={errors.months} data={months.map((value) => ({ value, label: t(`billing.schedules.months.${value}`) }))}
        onChange={(e) => setMonth(months.find((m) => m === e.currentTarget.value) ?? 'previous')} />
      <TextInput label={t('billing.schedules.destination')} description={t('billing.schedules.destination.hint')} required value={destination} error={errors.destination} onChange={(e) => setDestination(e.currentTarget.value)} />
      <div className={styles.two}>
        <TextInput label={t('billing.project')} value={parameters.project} error={errors['parameters.project']} onChange={(e) => set({ project: e.currentTarget.value })} />
        <TextInput label={t('billing.center')} value={parameters.center} error={errors['parameters.center']} onChange={(e) => set({ center: e.currentTarget.value })} />
        {format === 'focus' ? <NativeSelect label={t('billing.export.version')} value={parameters.version} data={['1.2', '1.3']} onChange={(e) => set({ version: e.currentTarget.value === '1.3' ? '1.3' : '1.2' })} /> : null}
        {isApel(format) ? (
          <NativeSelect label={t('billing.export.level')} value={parameters.level} data={[{ value: '', label: t('billing.export.level.none') }, ...levels.map((value) => ({ value, label: value }))]}
            onChange={(e) => set({ level: levels.find((value) => value === e.currentTarget.value) ?? '' })} />
        ) : null}
      </div>
      <Checkbox label={t('billing.schedules.enabled')} checked={isEnabled} onChange={(e) => setEnabled(e.currentTarget.checked)} />
    </FormDialog>
  )
}
