# SPDX-License-Identifier: MIT
"""Writes C# source for a compiler to work on: classes, generic classes,
interfaces, methods with bodies.  The same number of bytes gives the same text.

    make_mcs_source.py BYTES > big.cs
"""
import random
import sys

WORDS = ("alpha", "beta", "gamma", "delta", "omega", "count", "total", "index", "value", "offset")


def expression(generator, depth):
    if depth == 0:
        return generator.choice(("a", "b", "c", "number", str(generator.randrange(1, 10))))
    return "(%s %s %s)" % (expression(generator, depth - 1), generator.choice(("+", "-", "*", "^", "|", "&")),
                           expression(generator, depth - 1))


def method(generator, number):
    name = "%s%d" % (generator.choice(WORDS).capitalize(), number)
    lines = ["\t\tpublic int %s(int a, int b, string text)" % name, "\t\t{",
             "\t\t\tint c = a;", "\t\t\tc = %s;" % expression(generator, 3)]
    for step in range(generator.randrange(2, 6)):
        kind = generator.randrange(5)
        if kind == 0:
            lines.append("\t\t\tfor (int i = 0; i < %d; i++) c += %s;"
                         % (generator.randrange(2, 99), expression(generator, 2)))
        elif kind == 1:
            lines.append("\t\t\tif (c > %s) { c = %s; } else { c ^= text.Length; }"
                         % (expression(generator, 1), expression(generator, 2)))
        elif kind == 2:
            lines.append("\t\t\tvar list%d = new List<int> { a, b, c }; list%d.Sort((x, y) => x - y + %d); c = list%d[0];"
                         % (step, step, step, step))
        elif kind == 3:
            lines.append("\t\t\tvar map%d = new Dictionary<string, int[]>(); map%d[text + \"%s\"] = new int[] { %s };"
                         % (step, step, generator.choice(WORDS), expression(generator, 1)))
        else:
            lines.append("\t\t\ttext = string.Format(\"{0} %s {1}\", c, text.Length + %s);"
                         % (generator.choice(WORDS), expression(generator, 1)))
    return lines + ["\t\t\treturn c + number;", "\t\t}", ""]


def type_text(generator, number):
    generic = generator.randrange(4) == 0
    lines = ["\tpublic interface I%d { int Size { get; } }" % number,
             "\tpublic class C%d%s : I%d%s" % (number, "<X, Y>" if generic else "", number,
                                            " where X : class" if generic else ""), "\t{",
             "\t\tint number = %d;" % generator.randrange(1000000),
             "\t\tpublic int Size { get { return number; } }"]
    if generic:
        lines += ["\t\tX first; readonly List<Y> rest = new List<Y>();",
                  "\t\tpublic X First { get { return first; } set { first = value; } }",
                  "\t\tpublic int Count { get { return rest.Count; } }"]
    for index in range(generator.randrange(5, 15)):
        lines += method(generator, index)
    return "\n".join(lines + ["\t}", ""]) + "\n"


def write_source(size, out):
    generator = random.Random(size)
    written = out.write("using System;\nusing System.Collections.Generic;\n\nnamespace Made\n{\n")
    number = 0
    while written < size - 120:
        written += out.write(type_text(generator, number))
        number += 1
    out.write("\tpublic static class Program { public static int Main() { return 0; } }\n}\n")


if __name__ == "__main__":
    write_source(int(sys.argv[1]), sys.stdout)
