/** A chart of some series over time. */
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';

interface ChartProps {
  readonly title: string;
  readonly seconds: readonly number[];
  readonly series: readonly {
    readonly name: string;
    readonly color: string;
    readonly values: readonly number[];
  }[];
}

export function Chart({ title, seconds, series }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const names = series.map(({ name }) => name).join();
  const latest = useRef(series);
  latest.current = series;
  const plot = useRef<UPlot>(undefined);
  useEffect(() => {
    const element = place.current!;
    const style = getComputedStyle(element);
    const ink = style.getPropertyValue('--soft-ink');
    const axis = {
      stroke: ink,
      grid: { stroke: style.getPropertyValue('--line'), width: 1 },
      ticks: { show: false },
    };
    const made = new UPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: 190,
        scales: { x: { time: false } },
        axes: [{ ...axis, values: (_, marks) => marks.map((mark) => `${mark} s`) }, axis],
        series: [
          { label: 'after' },
          ...latest.current.map(({ name, color }) => ({
            label: name,
            stroke: style.getPropertyValue(color),
            width: 2,
          })),
        ],
        legend: { live: false },
        cursor: { show: false },
      },
      [[], ...latest.current.map(() => [])],
      element,
    );
    plot.current = made;
    const watch = new ResizeObserver(() =>
      made.setSize({ width: Math.max(200, element.clientWidth), height: 190 }),
    );
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [names]);
  useEffect(() => {
    plot.current?.setData([[...seconds], ...series.map(({ values }) => [...values])]);
  }, [seconds, series]);
  const last = series.map(({ name, values }) => `${name} ${values.at(-1) ?? 0}`).join(', ');
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={place} role="img" aria-label={`${title}: ${last}`} />
    </figure>
  );
}
