import { useText } from '../../../i18n/language'
import { flowSteps } from '../flow'
import styles from './flow_view.module.css'

export interface FlowItem {
  label: string
  inputs: readonly string[]
  text: string
}

/** Which operator computes on whose averaged outputs, from left to right (M5). */
export function FlowView({ items }: { items: readonly FlowItem[] }) {
  const t = useText()
  const steps = flowSteps(items)
  if (!steps) return <p className={styles.wrong}>{t('compose.wrong.cycle')}</p>
  if (steps.length < 2) return <p className="dim">{t('tasks.flow.none')}</p>
  return (
    <ol className={styles.steps}>
      {steps.map((step, i) => (
        <li key={i}>
          <h3>{t('tasks.flow.step', { n: i + 1 })}</h3>
          {step.map((item) => (
            <div key={item.label} className={styles.box}>
              <strong>{item.label}</strong> {item.text}
              {item.inputs.length > 0 ? <div className="dim">← {t('tasks.flow.from', { labels: item.inputs.join(', ') })}</div> : null}
            </div>
          ))}
        </li>
      ))}
    </ol>
  )
}
