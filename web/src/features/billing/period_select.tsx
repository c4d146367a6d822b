import { NativeSelect } from '@mantine/core'
import { useText } from '../../i18n/language'
import { useBillingPeriods } from '../../queries/billing'

/** The months with entries; the current one is offered even before it has any. */
export function PeriodSelect({ value, onChange, none }: { value: string; onChange: (period: string) => void; none: string }) {
  const t = useText()
  const query = useBillingPeriods()
  const months = [...new Set([new Date().toISOString().slice(0, 7), ...(query.data ?? []).map((p) => p.period), ...(value ? [value] : [])])].sort().reverse()
  return (
    <NativeSelect label={t('billing.period')} value={value} onChange={(e) => onChange(e.currentTarget.value)}
      data={[{ value: '', label: none }, ...months.map((month) => ({ value: month, label: month }))]} />
  )
}
