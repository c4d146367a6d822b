import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useText } from '../../../i18n/language'
import type { Operator } from '../../../queries/operators'
import measuring from '../../measuring/measuring.module.css'
import { lineFor, type OperatorLine } from './order_draft'
import styles from './order.module.css'

/** Operators with their sizes; an empty field has the operator's default. */
export function OperatorLines({ library, lines, error, onChange }: {
  library: readonly Operator[]; lines: readonly OperatorLine[]; error: string; onChange: (lines: OperatorLine[]) => void
}) {
  const t = useText()
  const usable = library.filter((operator) => operator.withdrawn_at === null)
  const set = (at: number, line: OperatorLine) => onChange(lines.map((old, i) => (i === at ? line : old)))
  return (
    <div className={measuring.stack}>
      {lines.map((line, i) => {
        const operator = library.find((one) => one.id === line.id)
        return (
          <fieldset key={i} className={styles.line}>
            <legend>{line.id}</legend>
            {(operator?.parameters ?? []).map((parameter) => (
              <TextInput key={parameter.name} label={parameter.name} w={96} inputMode="numeric" placeholder={String(parameter.default)} title={parameter.description}
                value={line.parameters[parameter.name] ?? ''}
                onChange={(e) => set(i, { ...line, parameters: { ...line.parameters, [parameter.name]: e.currentTarget.value } })} />
            ))}
            <TextInput label={t('measure.count')} w={70} inputMode="numeric" placeholder="1" value={line.count}
              onChange={(e) => set(i, { ...line, count: e.currentTarget.value })} />
            <Button onClick={() => onChange(lines.filter((_, at) => at !== i))} aria-label={t('runs.operator.remove', { id: line.id })}>{t('measure.remove')}</Button>
          </fieldset>
        )
      })}
      <NativeSelect label={t('runs.operator.add')} value="" w={240} error={error} onChange={(e) => {
        const operator = usable.find((one) => one.id === e.currentTarget.value)
        if (operator) onChange([...lines, lineFor(operator)])
      }} data={[{ value: '', label: t('runs.operator.choose') }, ...usable.map((operator) => operator.id)]} />
    </div>
  )
}
