import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useText } from '../../i18n/language'
import { useOperators } from '../../queries/operators'
import { useCenterOptions } from '../centers/center_options'
import measuring from '../measuring/measuring.module.css'
import { type Complaint, type FieldName, type Fields, classes, numberNamesOf } from './question'

const fromCenter: readonly FieldName[] = ['e', 't', 'b', 'm', 'p', 'r']

export function SpeedupForm({ fields, wrong, onChange }: {
  fields: Fields; wrong: Partial<Record<FieldName, Complaint>>; onChange: (change: Partial<Fields>) => void
}) {
  const t = useText()
  const centers = useCenterOptions({ none: t('speedup.center.none'), chosen: fields.center })
  const operators = useOperators()
  const say = (complaint: Complaint | undefined) => (complaint ? t(complaint.key, complaint.values) : '')
  return (
    <form className={measuring.form} onSubmit={(event) => event.preventDefault()} aria-label={t('speedup.form')}>
      <NativeSelect label={t('speedup.class')} value={fields.class} onChange={(e) => onChange({ class: e.currentTarget.value })}
        data={classes.map((one) => ({ value: one, label: t(`speedup.class.${one}`) }))} />
      <NativeSelect label={t('speedup.center')} value={fields.center} onChange={(e) => onChange(e.currentTarget.value
        ? { center: e.currentTarget.value, e: '', t: '', b: '', m: '' } : { center: '', operator: '', compressed: '' })}
        data={centers} />
      {fields.center ? (
        <>
          <NativeSelect label={t('speedup.operator')} value={fields.operator} onChange={(e) => onChange({ operator: e.currentTarget.value })}
            data={[{ value: '', label: t('speedup.operator.usual') }, ...(operators.data ?? []).map((operator) => operator.id)]} />
          <Checkbox label={t('speedup.compressed')} checked={fields.compressed !== ''} mt={22} onChange={(e) => onChange({ compressed: e.currentTarget.checked ? '1' : '' })} />
        </>) : null}
      {numberNamesOf(fields).map((name) => (
        <TextInput key={name} label={t(name === 'threshold' ? 'speedup.threshold' : `speedup.${name}`)} inputMode="decimal" value={fields[name]}
          placeholder={fields.center && fromCenter.includes(name) ? t('speedup.from.center') : ''} error={say(wrong[name])}
          onChange={(e) => onChange({ [name]: e.currentTarget.value })} />
      ))}
    </form>
  )
}
