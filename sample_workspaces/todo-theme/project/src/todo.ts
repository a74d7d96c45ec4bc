export const categories = ["home", "work", "errands"] as const;

export type Category = (typeof categories)[number];

export interface Todo {
  id: number;
  text: string;
  category: Category;
  done: boolean;
}
