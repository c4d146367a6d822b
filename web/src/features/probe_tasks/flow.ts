export interface FlowNode {
  label: string
  inputs: readonly string[]
}

/** Operators step by step: each stands after all that it computes on. null: the flow goes in a circle. */
export function flowSteps<Node extends FlowNode>(nodes: readonly Node[]): Node[][] | null {
  const done = new Set<string>()
  let rest = [...nodes]
  const known = new Set(nodes.map((node) => node.label))
  const steps: Node[][] = []
  while (rest.length > 0) {
    const ready = rest.filter((node) => node.inputs.every((input) => done.has(input) || !known.has(input)))
    if (ready.length === 0) return null
    steps.push(ready)
    for (const node of ready) done.add(node.label)
    rest = rest.filter((node) => !ready.includes(node))
  }
  return steps
}
