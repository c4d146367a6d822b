import { Button, NativeSelect, NumberInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import type { JobSpec } from '../../queries/jobs'
import { useOperators } from '../../queries/operators'
import styles from './submit.module.css'
import { parseSize, sizeText } from './words'

type Uses = NonNullable<JobSpec['operators']>
type Use = Uses[number]

export function OperatorRows({ operators, errors, onChange }: { operators: Uses; errors: Record<string, string>; onChange: (operators: Uses) => void }) {
  const t = useText()
  const library = useOperators().data ?? []
  const sizeOf = (id: string) => Object.fromEntries((library.find((o) => o.id === id)?.parameters ?? []).map((p) => [p.name, p.default]))
  const change = (at: number, use: Use) => onChange(operators.map((o, i) => (i === at ? use : o)))
  const first = library[0]
  return (
    <>
      {operators.map((use, i) => (
        <div key={i} className={styles.operator}>
          <NativeSelect label={t('submit.operator')} value={use.id} error={errors[`operators[${i}].id`]}
            data={[...new Set([...library.map((o) => o.id), use.id])]}
            onChange={(e) => change(i, { ...use, id: e.currentTarget.value, parameters: sizeOf(e.currentTarget.value) })} />
          <Size value={use.parameters ?? {}} error={errors[`operators[${i}].parameters`]} onChange={(parameters) => change(i, { ...use, parameters })} />
          <NumberInput label={t('submit.operator.count')} value={use.count ?? 1} min={1} allowDecimal={false} hideControls error={errors[`operators[${i}].count`]}
            onChange={(value) => change(i, { ...use, count: Number(value) || 1 })} />
          <Button aria-label={t('submit.operator.remove', { n: i + 1 })} onClick={() => onChange(operators.filter((_, at) => at !== i))}>×</Button>
        </div>
      ))}
      <Button className={styles.narrow ?? ''} disabled={!first} onClick={() => {
        const id = library.find((o) => o.id === 'dgemm')?.id ?? first?.id
        if (id) onChange([...operators, { id, parameters: sizeOf(id), count: 1 }])
      }}>{t('submit.operator.add')}</Button>
    </>
  )
}

/** A size as m=512, n=512. What is half typed is kept here until it means something. */
function Size(props: { value: Readonly<Record<string, number>>; error: string | undefined; onChange: (value: Record<string, number>) => void }) {
  const t = useText()
  const [typed, setTyped] = useState(() => sizeText(props.value))
  const parsed = parseSize(typed)
  const isSame = parsed === null || sizeText(parsed) === sizeText(props.value)
  return (
    <TextInput label={t('submit.operator.size')} classNames={{ input: styles.code ?? '' }} value={isSame ? typed : sizeText(props.value)}
      error={props.error ?? parsed === null} spellCheck={false} onChange={(e) => {
        setTyped(e.currentTarget.value)
        const next = parseSize(e.currentTarget.value)
        if (next) props.onChange(next)
      }} />
  )
}
