/**
 * Two ways to rank reports by their words, to compare with: TF-IDF vectors by cosine, and REP’s (BM25 over title and body, single words
 * and pairs of words, plus points for equal categories).
 */

export interface TextReport {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  /** Engine, level, kind of finding, …: compared by equality. */
  readonly categories: readonly string[];
}

export type Scores = (query: TextReport) => ReadonlyMap<string, number>;

const words = (text: string): string[] => text.toLowerCase().match(/[a-z_]+|\d+/g) ?? [];
const pairs = (list: readonly string[]): string[] => list.slice(1).map((word, i) => `${list[i]} ${word}`);

export function cosineOfText(reports: readonly TextReport[]): Scores {
  const documents = reports.map(({ id, title, body }) => ({ id, counts: count(words(`${title} ${body}`)) }));
  const idf = inverseFrequency(documents.map(({ counts }) => counts));
  const vector = (counts: ReadonlyMap<string, number>) =>
    new Map([...counts].map(([word, n]) => [word, (1 + Math.log(n)) * idf(word)]));
  const vectors = documents.map(({ id, counts }) => ({ id, vector: vector(counts) }));
  return ({ title, body }) => {
    const asked = vector(count(words(`${title} ${body}`)));
    return new Map(vectors.map(({ id, vector: other }) => [id, cosine(asked, other)]));
  };
}

/** The weights are those of REP’s paper as far as they apply here. */
export function repScores(reports: readonly TextReport[]): Scores {
  const fields = (report: TextReport, of: (list: string[]) => string[]) => ({
    title: count(of(words(report.title))),
    body: count(of(words(report.body))),
  });
  const kinds = [(list: string[]) => list, pairs].map((of) => {
    const documents = reports.map((report) => ({ id: report.id, ...fields(report, of) }));
    const idf = inverseFrequency(documents.map(({ title, body }) => new Map([...body, ...title])));
    const mean = (field: 'title' | 'body') =>
      documents.reduce((sum, document) => sum + sizeOf(document[field]), 0) / Math.max(1, documents.length);
    const lengths = { title: mean('title'), body: mean('body') };
    return { of, documents, idf, lengths };
  });
  return (query) => {
    const scores = new Map(
      reports.map(({ id, categories }) => [id, agreement(query.categories, categories)]),
    );
    for (const [i, { of, documents, idf, lengths }] of kinds.entries()) {
      const asked = new Set(of(words(`${query.title} ${query.body}`)));
      for (const { id, title, body } of documents) {
        let sum = 0;
        for (const word of asked) {
          const weight =
            (3 * (title.get(word) ?? 0)) / norm(sizeOf(title), lengths.title) +
            (body.get(word) ?? 0) / norm(sizeOf(body), lengths.body);
          sum += (idf(word) * weight) / (2 + weight);
        }
        scores.set(id, scores.get(id)! + (i === 0 ? 0.9 : 0.2) * sum);
      }
    }
    return scores;
  };
}

const norm = (length: number, mean: number): number => 0.5 + (0.5 * length) / Math.max(1, mean);

function agreement(one: readonly string[], other: readonly string[]): number {
  return one.filter((category, i) => category === other[i]).length;
}

function count(list: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of list) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const sizeOf = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, n) => sum + n, 0);

function inverseFrequency(documents: readonly ReadonlyMap<string, number>[]): (word: string) => number {
  const within = count(documents.flatMap((document) => [...document.keys()]));
  return (word) => Math.log(1 + documents.length / (1 + (within.get(word) ?? 0)));
}

function cosine(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let dot = 0;
  for (const [word, value] of a) dot += value * (b.get(word) ?? 0);
  const length = (vector: ReadonlyMap<string, number>) =>
    Math.sqrt([...vector.values()].reduce((sum, value) => sum + value * value, 0));
  return dot === 0 ? 0 : dot / (length(a) * length(b));
}
