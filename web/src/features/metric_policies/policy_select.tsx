import { NativeSelect } from '@mantine/core'
import { useText } from '../../i18n/language'
import { nameOf, useMetricPolicies } from '../../queries/metric_policies'

/** Which policy scores are told under; another one than the active is a preview. */
export function PolicySelect({ value, onChange }: { value: string; onChange: (policy: string) => void }) {
  const t = useText()
  const policies = useMetricPolicies()
  const all = policies.data ?? []
  const active = all.find((policy) => policy.active)
  const others = all.filter((policy) => !policy.active).map(nameOf)
  // What an address names is offered, even if it is not known.
  const named = value === '' || others.includes(value) ? others : [...others, value]
  return <NativeSelect label={t('scores.policy')} value={value} onChange={(e) => onChange(e.currentTarget.value)} data={[
    { value: '', label: active ? t('scores.policy.active', { policy: nameOf(active) }) : t('ui.any') }, ...named]} />
}
