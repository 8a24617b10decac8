def _cell(code, environment, mark):
    import _ast, json, linecache, os, sys, traceback
    scope = sys.modules["__main__"].__dict__
    del scope["_cell"]
    os.environ.update(environment)
    name = "<cell>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    errors = sys.stderr

    def report(**fields):
        sys.stdout.flush()
        errors.write(mark + json.dumps(fields) + "\n")
        errors.flush()

    try:
        tree = compile(code, name, "exec", 0x400)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
        exec(compile(tree, name, "exec"), scope)
        value = None
        if last is not None:
            value = eval(compile(_ast.Expression(last.value), name, "eval"), scope)
        text = None if value is None else repr(value)
        if text and len(text) > 1 and text[0] == text[-1] == "'":
            text = text[1:-1]
        report(value=text)
    except SystemExit as error:
        text = str(error.code)
        lines = f"An exception has occurred, use %tb to see the full traceback.\nSystemExit: {text}\n"
        report(raised=["SystemExit", text, lines])
    except BaseException as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        lines = "".join(traceback.format_exception(error))
        report(raised=[type(error).__name__, str(error), lines])
